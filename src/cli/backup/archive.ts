import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import type { Readable, Writable } from 'node:stream'
import tar from 'tar-stream'
import { z } from 'zod'
import { StartFault } from '../../lib/errors.ts'

// A backup is a tar file, so that other programs can inspect it: `parley.json` first, then files/ and tables/, and
// `end.json` last, which holds a digest of everything before it. A file without that end is truncated.

export const manifestName = 'parley.json'
const endName = 'end.json'

/** Raised when older versions of Parley cannot read what a newer one writes. */
export const formatVersion = 1

/** Metadata is small; a larger entry was not written by this program. */
const metadataLimitBytes = 16 * 1024 * 1024

const End = z.object({ digest: z.string() })

export interface ArchiveEntry {
  name: string
  size: number
  /** To be read completely, or not at all, before the next entry. */
  content: AsyncIterable<Uint8Array>
}

/** Writes a backup to a stream, entry by entry, without holding a whole entry in memory. */
export class ArchiveWriter {
  readonly #pack = tar.pack()
  readonly #hash = createHash('sha256')
  readonly #written: Promise<void>
  /** Rejects where the target fails, such as a full disk, for which a waiting entry would wait for ever. */
  readonly failed: Promise<never>

  constructor(target: Writable) {
    this.#written = pipeline(this.#pack as unknown as Readable, target)
    this.failed = new Promise((_, reject) => this.#written.catch(reject))
    this.failed.catch(() => {})
  }

  /** Adds an entry of exactly `size` bytes. Rejects where the content is longer or shorter. */
  async add(name: string, size: number, content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
    const finished = Promise.withResolvers<void>()
    // tar-stream's streams have the interface of Node's, contrary to their types.
    const entry = this.#pack.entry({ name, size, mode: 0o600 }, error => {
      if (error) finished.reject(error)
      else finished.resolve()
    }) as unknown as Writable
    finished.promise.catch(() => {})
    addHead(this.#hash, name, size)
    for await (const piece of content) {
      this.#hash.update(piece)
      if (!entry.write(piece)) await Promise.race([drained(entry), this.failed])
    }
    entry.end()
    await Promise.race([finished.promise, this.failed])
  }

  async addJson(name: string, value: unknown): Promise<void> {
    const text = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
    await this.add(name, text.length, [text])
  }

  /** Writes the end. Resolves when the target has accepted everything. */
  async finish(): Promise<void> {
    await this.addJson(endName, { digest: this.#hash.copy().digest('hex') })
    this.#pack.finalize()
    await this.#written
  }
}

/**
 * Yields the entries of a backup in order, without `end.json`, against which all are checked. Throws a StartFault where
 * the source is no backup, is truncated or was changed: then nothing that was read may be trusted.
 */
export async function* readArchive(source: Readable): AsyncGenerator<ArchiveEntry> {
  const hash = createHash('sha256')
  const extract = tar.extract()
  let sourceError: Error | null = null
  source.once('error', error => (sourceError = error))
  const fed = pipeline(source, extract as unknown as Writable)
  fed.catch(() => {})
  let hasBegun = false
  let isWhole = false
  const toFault = (error: unknown) => {
    if (sourceError !== null) return sourceError
    if (error instanceof StartFault) return error
    return hasBegun ? cutShort(error) : noBackup(error)
  }
  try {
    for await (const stream of extract) {
      const { name, size = 0 } = stream.header
      const content = stream as unknown as AsyncIterable<Uint8Array>
      if (!hasBegun && name !== manifestName) throw noBackup()
      hasBegun = true
      if (name === endName) {
        isWhole = hash.digest('hex') === End.parse(await readJson({ name, size, content })).digest
        if (!isWhole) throw new StartFault('The backup was changed or damaged: its content does not match its digest.')
        continue
      }
      addHead(hash, name, size)
      yield { name, size, content: hashed(content, hash, toFault) }
    }
    await fed
  } catch (error) {
    throw toFault(error)
  } finally {
    source.destroy()
  }
  if (!hasBegun) throw noBackup()
  if (!isWhole) throw cutShort()
}

/** The JSON of a metadata entry, not validated. */
export async function readJson({ name, size, content }: ArchiveEntry): Promise<unknown> {
  if (size > metadataLimitBytes) throw noBackup()
  const pieces: Uint8Array[] = []
  for await (const piece of content) pieces.push(piece)
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'))
  } catch (cause) {
    throw new StartFault(`The backup is damaged: ${name} is not JSON.`, { cause })
  }
}

async function* hashed(
  content: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
  toFault: (error: unknown) => Error,
) {
  try {
    for await (const piece of content) {
      hash.update(piece)
      yield piece
    }
  } catch (error) {
    throw toFault(error)
  }
}

function addHead(hash: ReturnType<typeof createHash>, name: string, size: number): void {
  hash.update(`${name}\n${size}\n`)
}

function drained(entry: Writable): Promise<void> {
  return new Promise(resolve => {
    entry.once('drain', resolve)
    entry.once('close', resolve)
  })
}

function noBackup(cause?: unknown): StartFault {
  return new StartFault('This is no backup that npm run admin -- backup has written.', { cause })
}

function cutShort(cause?: unknown): StartFault {
  return new StartFault('The backup was cut short or damaged: it cannot be read up to its last entry, end.json.', {
    cause,
  })
}
