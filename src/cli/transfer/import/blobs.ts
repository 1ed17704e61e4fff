import { server } from '../../../auth/principal.ts'
import type { Bytes } from '../../../bytes/bytes.ts'
import { Renditions } from '../../../media/renditions.ts'
import type { Sql } from '../../../postgres/sql.ts'
import type { BlobRow } from '../../../resources/blobs/schema.ts'
import { insertBlob, type NewBlobRow } from '../../../resources/blobs/store.ts'
import { keepBlob, toSecret, type Keeper } from '../../../resources/blobs/uploads/keep.ts'
import type { UploadRoom } from '../../../resources/blobs/uploads/room.ts'
import type { LineOf } from '../format.ts'
import { fault, type Numbered } from '../lines.ts'
import type { Refs } from './refs.ts'
import type { Commit } from './rows.ts'

type BlobLine = Numbered<LineOf<'blob'>>

interface Parts {
  sql: Sql
  bytes: Bytes
  uploadRoom: UploadRoom
  refs: Refs
  commit: Commit
  isDryRun: boolean
}

/** Stores blobs of a file as uploads: what a picture is, its bytes say. */
export class Blobs {
  readonly #parts: Parts
  readonly #renditions: Renditions

  constructor(parts: Parts) {
    this.#parts = parts
    this.#renditions = new Renditions(parts.bytes)
  }

  /** Takes all of `content`, also where the blob was stored before. */
  async add(line: BlobLine, content: AsyncIterable<Uint8Array>): Promise<void> {
    const { refs, isDryRun } = this.#parts
    const isKnown = refs.find('blob', line.id) !== undefined
    if (!isKnown && !line.external && !isDryRun) return this.#keep(line, content)
    let size = 0
    for await (const piece of content) size += piece.length
    if (isKnown) return
    if (!line.external) requireSize(line, size)
    const given: Partial<NonNullable<BlobLine['external']>> = line.external ?? {}
    const {
      provider = null,
      link = null,
      width = null,
      height = null,
      download = null,
      embed = null,
      raw = null,
    } = given
    const external = { provider, link, width, height, download, embed, raw }
    const { media_type, size: said } = line
    await this.#insert(line, { key: null, secret: toSecret(), image: null, media_type, size: said, ...external })
  }

  close(): void {
    this.#renditions.stop()
  }

  async #keep(line: BlobLine, content: AsyncIterable<Uint8Array>): Promise<void> {
    const { sql, bytes, uploadRoom } = this.#parts
    const keeper: Keeper = { sql, bytes, uploadRoom, renditions: this.#renditions, by: server, now: () => new Date() }
    const write = async (key: string) => {
      let size = 0
      const count = async function* () {
        for await (const piece of content) {
          size += piece.length
          yield piece
        }
      }
      await bytes.put(key, uploadRoom.watch(count()))
      requireSize(line, size)
      return { name: line.name, mediaType: line.media_type }
    }
    await keepBlob(keeper, write, row => this.#insert(line, row))
  }

  #insert(line: BlobLine, row: Omit<NewBlobRow, 'name' | 'created_at' | 'created_by'>): Promise<BlobRow> {
    const { refs, commit } = this.#parts
    return commit(async tx => {
      const created_by = refs.need('user', line.created_by, line.number).id
      const blob = await insertBlob(tx, { ...row, name: line.name, created_at: line.created_at, created_by })
      // Unused ones are removed some days after they were last looked at.
      await tx`update blobs set checked_at = now() where id = ${blob.id}`
      refs.add('blob', line.id, blob.id)
      await refs.save(tx)
      return blob
    })
  }
}

function requireSize({ size, number }: BlobLine, found: number): void {
  if (found !== size) throw fault(number, `size is ${size}, but ${found} bytes follow.`)
}
