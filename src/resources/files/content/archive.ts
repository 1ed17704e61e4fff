import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import type { Bytes } from '../../../bytes/bytes.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { foldName, withoutDirection } from '../../../lib/name.ts'
import { listForArchive, type ArchivedFile } from '../store.ts'

/** Types that are compressed already. */
const compressed = /^(?:image\/(?!svg|bmp|tiff)|audio\/|video\/|application\/(?:zip|pdf|x-7z|vnd\.openxml))/

/** Files per query. A guess. */
const portion = 500

/**
 * A ZIP of an app's files, made while it is read: one file is open at a time, and only names are kept. Files added
 * meanwhile may be in it or not. Fails where the bytes of a file cannot be read, so that half an archive is not taken
 * for a whole one.
 */
export function zipFiles(sql: Sql, app: number, bytes: Bytes): Readable {
  const zip = new ZipFile()
  const output = zip.outputStream as unknown as Readable
  fill(zip, output, listFiles(sql, app), bytes).catch((error: Error) => output.destroy(error))
  return output
}

async function fill(zip: ZipFile, output: Readable, files: AsyncIterable<ArchivedFile>, bytes: Bytes): Promise<void> {
  const names = new EntryNames()
  let current: Readable | null = null
  output.once('close', () => current?.destroy())
  for await (const { name, key, media_type, changed_at } of files) {
    current = await bytes.open(key)
    if (current === null) throw new Error(`The bytes of a file are missing under their key ${key}`)
    // The reader has gone meanwhile, and the file would stay open.
    if (output.destroyed) return void current.destroy()
    const options = { mtime: changed_at, compress: !compressed.test(media_type) }
    // Added lazily: entries are kept to the end, and would keep an open stream.
    zip.addReadStreamLazy(names.take(name), options, done => done(null, current!))
    await finished(current)
  }
  zip.end()
}

async function* listFiles(sql: Sql, app: number): AsyncGenerator<ArchivedFile> {
  let files: ArchivedFile[]
  let last = 0
  do {
    files = await listForArchive(sql, app, last, portion)
    yield* files
    last = files.at(-1)?.id ?? last
  } while (files.length === portion)
}

/** Unique names, compared as the names of files are: the second `a.txt` becomes `a (2).txt`. */
class EntryNames {
  readonly #taken = new Set<string>()
  /** Where to continue counting: thousands of files may have one name. */
  readonly #copies = new Map<string, number>()

  take(fileName: string): string {
    const whole = toEntryName(fileName)
    const dot = whole.lastIndexOf('.')
    const [stem, extension] = dot > 0 ? [whole.slice(0, dot), whole.slice(dot)] : [whole, '']
    let name = whole
    let copy = this.#copies.get(foldName(whole)) ?? 1
    while (this.#taken.has(foldName(name))) name = `${stem} (${++copy})${extension}`
    this.#copies.set(foldName(whole), copy)
    this.#taken.add(foldName(name))
    return name
  }
}

/** In NFC, and without separators, which programs would take for folders. */
function toEntryName(fileName: string): string {
  const name = withoutDirection(fileName.normalize('NFC'))
  return /^\.\.?$/.test(name) ? name.replaceAll('.', '_') : name.replace(/[/\\:]/g, '_')
}
