import { once } from 'node:events'
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StartFault } from '../../lib/errors.ts'
import type { Tx } from '../../postgres/sql.ts'
import type { Progress } from '../progress.ts'
import type { ArchiveEntry, ArchiveWriter } from './archive.ts'
import type { Table } from './manifest.ts'

const compress = promisify(gzip)

/**
 * The size of an entry: tar needs it in advance, so this bounds the memory that a table of any size takes. A guess:
 * enough for compression to find repetitions.
 */
const portionBytes = 4 * 1024 * 1024

/** The one of nine levels that keeps up with PostgreSQL on one core. */
const compression = { level: 1 }

const folder = 'tables/'

const lineFeed = 10

/**
 * Adds all rows of a table that the transaction sees, in PostgreSQL's text format, which any version reads; returns how
 * many.
 */
export async function saveTable(tx: Tx, table: Table, archive: ArchiveWriter, progress: Progress): Promise<number> {
  const rows = await tx
    .unsafe(`copy (select ${table.columns.map(quoted).join(', ')} from ${quoted(table.name)}) to stdout`)
    .readable()
  let count = 0
  let portion: Uint8Array[] = []
  let size = 0
  let portions = 0
  const flush = async () => {
    const content = await compress(Buffer.concat(portion), compression)
    const number = String(++portions).padStart(6, '0')
    await archive.add(`${folder}${table.name}/${number}.copy.gz`, content.length, [content])
    progress.add(`Table ${table.name}`, size)
    portion = []
    size = 0
  }
  for await (const piece of rows as AsyncIterable<Uint8Array>) {
    portion.push(piece)
    size += piece.length
    count += countLines(piece)
    if (size >= portionBytes) await flush()
  }
  if (size > 0) await flush()
  return count
}

/** Each row ends with the only line feed in it: COPY writes those of texts as `\n`. */
function countLines(piece: Uint8Array): number {
  let count = 0
  for (let at = piece.indexOf(lineFeed); at !== -1; at = piece.indexOf(lineFeed, at + 1)) count++
  return count
}

/** The table of an entry's rows; null for other entries. */
export function tableOf({ name }: ArchiveEntry): string | null {
  return /^tables\/([a-z0-9_]+)\/\d+\.copy\.gz$/.exec(name)?.[1] ?? null
}

/** Copies entries into their tables, whose entries are consecutive: one COPY for each table. */
export class TableLoader {
  readonly #tx: Tx
  readonly #tables: Map<string, Table>
  readonly #progress: Progress
  #current: { name: string; target: Writable; failed: Promise<never> } | null = null

  constructor(tx: Tx, tables: Table[], progress: Progress) {
    this.#tx = tx
    this.#tables = new Map(tables.map(table => [table.name, table]))
    this.#progress = progress
  }

  async add(name: string, entry: ArchiveEntry): Promise<void> {
    if (this.#current?.name !== name) {
      await this.finish()
      await this.#open(name)
    }
    const { target, failed } = this.#current!
    try {
      await pipeline(entry.content, createGunzip(), async rows => {
        for await (const piece of rows as AsyncIterable<Uint8Array>) {
          this.#progress.add(`Table ${name}`, piece.length)
          if (!target.write(piece)) await Promise.race([once(target, 'drain'), failed])
        }
      })
    } catch (error) {
      throw this.#describe(error)
    }
  }

  /** Ends the current COPY: all rows are in the table. */
  async finish(): Promise<void> {
    const current = this.#current
    if (current === null) return
    try {
      const finished = once(current.target, 'finish')
      current.target.end()
      await Promise.race([finished, current.failed])
    } catch (error) {
      throw this.#describe(error)
    }
    this.#current = null
  }

  /** Aborts the current COPY, without which the connection accepts no other statement. */
  abort(error: Error): void {
    this.#current?.target.destroy(error)
  }

  async #open(name: string): Promise<void> {
    const table = this.#tables.get(name)
    if (table === undefined) throw new StartFault(`The backup is damaged: its manifest has no table ${name}.`)
    const target = await this.#tx
      .unsafe(`copy ${quoted(name)} (${table.columns.map(quoted).join(', ')}) from stdin`)
      .writable()
    const failed = new Promise<never>((_, reject) => target.once('error', reject))
    failed.catch(() => {})
    this.#current = { name, target, failed }
  }

  #describe(error: unknown): unknown {
    if (error instanceof StartFault) return error
    const { code = '', message } = error as { code?: string; message: string }
    const name = this.#current?.name
    const text = code.startsWith('Z_')
      ? `The backup is damaged: the rows of ${name} cannot be unpacked.`
      : `The rows of ${name} could not be loaded: ${message}`
    return new StartFault(text, { cause: error })
  }
}

export function quoted(name: string): string {
  return `"${name}"`
}
