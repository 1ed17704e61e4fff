import { LRUCache } from 'lru-cache'
import type { Bytes } from '../../../bytes/bytes.ts'
import type { Db } from '../../../postgres/sql.ts'
import { listBlobs } from '../../../resources/blobs/store.ts'
import type { Progress } from '../../progress.ts'
import { chunkBytes, type DraftLine } from '../format.ts'
import { toLine } from './lines.ts'

/** Blobs that are known to be in the file; one that was forgotten is written again, and passed over by an import. */
const writtenLimit = 100_000

/** The lines of blobs, each before the first line that names it. */
export class BlobLines {
  readonly #db: Db
  readonly #bytes: Bytes
  readonly #progress: Progress
  readonly #written = new LRUCache<number, true>({ max: writtenLimit })

  constructor(db: Db, bytes: Bytes, progress: Progress) {
    this.#db = db
    this.#bytes = bytes
    this.#progress = progress
  }

  /** True for a blob whose bytes are in the file. */
  has(id: number | null): id is number {
    return id !== null && this.#written.has(id)
  }

  /** `toUser`: how the file names a user. */
  async *list(ids: readonly number[], toUser: (id: number) => string): AsyncGenerator<DraftLine> {
    const missing = ids.filter(id => !this.#written.has(id))
    for (const [id, blob] of await listBlobs(this.#db, missing)) {
      const { name, media_type, size, key, created_at, provider, link, width, height, download, embed, raw } = blob
      const source = key === null ? null : await this.#bytes.open(key)
      const isMissing = key !== null && source === null
      if (isMissing) this.#progress.say(`A file whose bytes are missing is empty in the export: ${name} (${key})`)
      this.#written.set(id, true)
      const external = key === null ? { provider: provider!, link: link!, width, height, download, embed, raw } : null
      const author = { created_at, created_by: toUser(blob.created_by) }
      yield { ...toLine('blob', { id, name, media_type, ...author, external }), size: isMissing ? 0 : size }
      if (source === null) continue
      let rest = Buffer.alloc(0)
      for await (const piece of source as AsyncIterable<Buffer>) {
        rest = Buffer.concat([rest, piece])
        for (; rest.length >= chunkBytes; rest = rest.subarray(chunkBytes))
          yield { type: 'bytes', data: rest.toString('base64', 0, chunkBytes) }
      }
      if (rest.length > 0) yield { type: 'bytes', data: rest.toString('base64') }
    }
  }
}
