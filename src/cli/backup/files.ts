import { Readable } from 'node:stream'
import PQueue from 'p-queue'
import type { Bytes } from '../../bytes/bytes.ts'
import type { Db } from '../../postgres/sql.ts'
import { listStoredBlobs } from '../../resources/blobs/store.ts'
import type { Progress } from '../progress.ts'
import type { ArchiveEntry, ArchiveWriter } from './archive.ts'

const folder = 'files/'

/** Blobs per query. */
const pageSize = 500

/** Files up to this size are read and written concurrently, because a store answers each with a delay. Guesses. */
const smallBytes = 1024 * 1024
const atOnce = 8

type StoredBlob = Awaited<ReturnType<typeof listStoredBlobs>>[number]

export interface SavedFiles {
  count: number
  /** Keys of known files without bytes. */
  missing: string[]
}

/** The most missing files that are named; where all are lost, the names would fill the memory. */
const namedLimit = 1000

/** Adds the bytes of every blob that the transaction sees. */
export async function saveFiles(db: Db, bytes: Bytes, archive: ArchiveWriter, progress: Progress): Promise<SavedFiles> {
  const saved: SavedFiles = { count: 0, missing: [] }
  const read = async ({ key, size }: StoredBlob) => ({
    key,
    small: size <= smallBytes ? await readWhole(bytes, key) : null,
  })
  for await (const { key, small } of mapStoredBlobs(db, read)) {
    const size = small?.length ?? (await bytes.sizeOf(key))
    const content = small === null ? await bytes.open(key) : [small]
    if (size !== null && content !== null) {
      await archive.add(`${folder}${key}`, size, counted(content, progress))
      saved.count++
    } else if (saved.missing.length < namedLimit) saved.missing.push(key)
  }
  return saved
}

/** The results of `work` on every blob with bytes, in the order of their ids; some are worked on ahead. */
export function mapStoredBlobs<Result>(db: Db, work: (blob: StoredBlob) => Promise<Result>): AsyncIterable<Result> {
  return Readable.from(storedBlobs(db)).map(work, { concurrency: atOnce })
}

/** The storage key of an entry's bytes; null for other entries. */
export function fileOf({ name }: ArchiveEntry): string | null {
  return /^files\/([\w-][\w.-]{3,})$/.exec(name)?.[1] ?? null
}

/** Stores files of a backup in a deployment. */
export class FileLoader {
  readonly #bytes: Bytes
  readonly #progress: Progress
  readonly #queue = new PQueue({ concurrency: atOnce })
  #failure: Error | null = null
  count = 0

  constructor(bytes: Bytes, progress: Progress) {
    this.#bytes = bytes
    this.#progress = progress
  }

  async add(key: string, { size, content }: ArchiveEntry): Promise<void> {
    this.count++
    if (size > smallBytes) return this.#bytes.put(key, counted(content, this.#progress))
    const pieces: Uint8Array[] = []
    for await (const piece of counted(content, this.#progress)) pieces.push(piece)
    await this.#queue.onSizeLessThan(atOnce)
    this.#throwFailure()
    void this.#queue.add(() => this.#bytes.put(key, [Buffer.concat(pieces)])).catch(error => (this.#failure ??= error))
  }

  /** Resolves when all files are stored. */
  async finish(): Promise<void> {
    await this.#queue.onIdle()
    this.#throwFailure()
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure
  }
}

async function* storedBlobs(db: Db): AsyncGenerator<StoredBlob> {
  let after = 0
  for (;;) {
    const page = await listStoredBlobs(db, after, pageSize)
    yield* page
    if (page.length < pageSize) return
    after = page.at(-1)!.id
  }
}

/** Null where there are none. */
async function readWhole(bytes: Bytes, key: string): Promise<Buffer | null> {
  const source = await bytes.open(key)
  return source === null ? null : Buffer.concat(await source.toArray())
}

async function* counted(content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, progress: Progress) {
  for await (const piece of content) {
    progress.add('Files', piece.length)
    yield piece
  }
}
