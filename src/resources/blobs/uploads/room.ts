import type { Principal } from '../../../auth/principal.ts'
import { problem } from '../../../lib/errors.ts'
import { readDisk } from '../../../monitoring/disk.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { sumSizes } from '../store.ts'

export const StorageFull = problem(
  507,
  'storage-full',
  'The server has too little disk space left for uploads. Its operator has to make room.',
)
export const QuotaExceeded = problem(
  403,
  'storage-quota-exceeded',
  'The files that you have uploaded take all the space that you may use. Delete some first.',
)

export interface UploadRoomSettings {
  /** The folder of uploads; null where they are kept elsewhere. */
  folder: string | null
  /** Bytes of the folder's disk that uploads leave free. */
  floorBytes: number
  /** Bytes that the uploads of one user may take; null: no limit. */
  quotaBytes: number | null
}

/** How long the answer of the system is believed. A guess: a disk takes some hundred MB in the time. */
const freshMs = 250

/** The disk is looked at again after this many bytes of one upload. */
const pieceBytes = 8 * 1024 * 1024

/** Refuses uploads for which there is no room: on the disk, or in the quota of their user. API keys have no quota. */
export class UploadRoom {
  readonly #settings: UploadRoomSettings
  #free = Number.POSITIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(settings: UploadRoomSettings) {
    this.#settings = settings
  }

  /** 507 where the disk is nearly full, 403 where the user would have more than the quota with `bytes` more. */
  async require(sql: Sql, by: Principal, bytes: number): Promise<void> {
    await this.#requireDisk()
    const { quotaBytes } = this.#settings
    if (quotaBytes === null || by.kind !== 'user') return
    if ((await sumSizes(sql, by.user)) + bytes > quotaBytes) throw QuotaExceeded({ quota_bytes: quotaBytes })
  }

  /** The bytes of an upload as they arrive, which end with 507 where they fill the disk. */
  async *watch(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let bytes = 0
    for await (const piece of source) {
      bytes += piece.length
      if (bytes > pieceBytes) {
        bytes = 0
        await this.#requireDisk()
      }
      yield piece
    }
  }

  async #requireDisk(): Promise<void> {
    const { folder, floorBytes } = this.#settings
    if (folder === null || floorBytes === 0) return
    const now = performance.now()
    if (now - this.#lookedAt > freshMs) {
      this.#lookedAt = now
      // Where the system does not say, writing will.
      this.#free = (await readDisk(folder))?.free ?? Number.POSITIVE_INFINITY
    }
    if (this.#free < floorBytes) throw StorageFull()
  }
}
