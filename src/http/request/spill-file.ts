import { randomUUID } from 'node:crypto'
import { closeSync, ftruncateSync, openSync, read, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const readAt = promisify(read)

/**
 * Bytes that arrive faster than they are read, in a nameless temporary file that is gone with the process. Writing
 * blocks, for a tenth of a millisecond at a time into the system's cache: uWebSockets.js hands over all that has
 * arrived within one call, also after it was told to pause.
 */
export class SpillFile {
  readonly #file: number
  #writtenBytes = 0
  #readBytes = 0
  #isReading = false
  #isClosed = false

  constructor() {
    const path = join(tmpdir(), `parley-${randomUUID()}`)
    this.#file = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
  }

  get sizeBytes(): number {
    return this.#writtenBytes - this.#readBytes
  }

  write(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length;) {
      const count = writeSync(this.#file, chunk, start, chunk.length - start, this.#writtenBytes)
      this.#writtenBytes += count
      start += count
    }
  }

  /** Fills `piece` as far as there is something; how far that was. Not while another read is under way. */
  async read(piece: Uint8Array): Promise<number> {
    this.#isReading = true
    try {
      const { bytesRead } = await readAt(this.#file, piece, 0, Math.min(piece.length, this.sizeBytes), this.#readBytes)
      this.#readBytes += bytesRead
      if (this.sizeBytes === 0 && !this.#isClosed) this.#empty()
      return bytesRead
    } finally {
      this.#isReading = false
      if (this.#isClosed) closeSync(this.#file)
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (!this.#isReading) closeSync(this.#file)
  }

  /** What was read takes no room on the disk. */
  #empty(): void {
    ftruncateSync(this.#file, 0)
    this.#writtenBytes = 0
    this.#readBytes = 0
  }
}
