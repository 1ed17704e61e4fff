import { randomUUID } from 'node:crypto'
import { closeSync, ftruncateSync, openSync, read, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const readAt = promisify(read)

/**
 * A buffer in a nameless temporary file, for bytes that arrive faster than they are read; gone with the process. Writes
 * block, each for a tenth of a millisecond into the system's cache: uWebSockets.js hands over everything that has
 * arrived within one call, even after a pause.
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

  /** Reads into `piece` what is available; resolves with the number of bytes. Not during another read. */
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

  /** Truncates the file once everything has been read. */
  #empty(): void {
    ftruncateSync(this.#file, 0)
    this.#writtenBytes = 0
    this.#readBytes = 0
  }
}
