import { overloaded, type Problem } from '../../../lib/errors.ts'
import { payloadTooLarge } from './body.ts'
import type { Answer, BodyTaker, Exchange } from '../../server/exchange.ts'
import { SpillFile } from './spill-file.ts'
import type { Unknown } from '../names/unknown.ts'

/** How much may wait for the handler before the client is paused. A guess. */
const pauseBytes = 256 * 1024

const pieceBytes = 128 * 1024

/** Beyond this, waiting bytes go to a file. */
const memoryBytes = 2 * 1024 * 1024

/** What a handler reads of a raw body. */
export interface ReadableUpload extends AsyncIterable<Uint8Array> {
  readonly contentType: string
  /** For what the body names and the handler does not know. */
  readonly unknown: Unknown
  recycle(memory: ArrayBufferLike): void
}

/** The client went away before its body was complete, so there is no one to answer. */
export class ClientGone extends Error {}

/**
 * The raw body of a request, for a handler that reads it piece by piece: a slow handler slows the client down. Reading
 * fails with 413 beyond the limit, and when the client goes away. Bytes that arrive after the pause are kept in memory
 * up to `memoryBytes`, and beyond that in a file; 503 where there can be no such file.
 */
export class Upload implements BodyTaker, ReadableUpload {
  readonly contentType: string
  readonly unknown: Unknown
  readonly #exchange: Exchange
  readonly #limitBytes: number
  #sizeBytes = 0
  #isComplete = false
  /** Pieces that have arrived and were not read, oldest first. */
  #pieces: Uint8Array[] = []
  #piecesBytes = 0
  #spillFile: SpillFile | null = null
  #failure: Error | null = null
  /** Why nothing more is kept: the answer for a client that is still sending. */
  #refusal: Problem | null = null
  #isUnwanted = false
  #arrival = Promise.withResolvers<void>()
  readonly #free: ArrayBuffer[] = []
  readonly #lent = new WeakSet<ArrayBufferLike>()

  /** Only before `exchange.detach`. 413 where the Content-Length is too large. */
  constructor(exchange: Exchange, limitBytes: number, unknown: Unknown) {
    if (Number(exchange.header('content-length')) > limitBytes) throw payloadTooLarge(limitBytes)
    this.contentType = exchange.header('content-type')
    this.unknown = unknown
    this.#limitBytes = limitBytes
    this.#exchange = exchange
    exchange.receive(this)
  }

  take(chunk: ArrayBuffer, isLast: boolean): void {
    this.#sizeBytes += chunk.byteLength
    this.#isComplete = isLast
    if (this.#sizeBytes > this.#limitBytes) this.#failure ??= payloadTooLarge(this.#limitBytes)
    else if (!this.#isUnwanted) this.#keep(new Uint8Array(chunk))
    if (this.#waitingBytes > pauseBytes && !isLast) this.#exchange.pause()
    this.#arrival.resolve()
  }

  /** Can be read once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.#pieces.shift()
      if (piece !== undefined) {
        this.#piecesBytes -= piece.length
        this.#makeRoom()
        yield piece
      } else if (this.#spillFile !== null && this.#spillFile.sizeBytes > 0 && this.#failure === null) {
        const memory = this.#lend()
        const count = await this.#spillFile.read(new Uint8Array(memory))
        this.#makeRoom()
        yield Buffer.from(memory, 0, count)
      } else if (this.#failure !== null || this.#refusal !== null) {
        throw this.#failure ?? this.#refusal
      } else if (this.#isComplete) {
        return
      } else {
        await this.#waitForData()
      }
    }
  }

  /**
   * Reuses the memory of pieces that are not needed any more. The garbage collector alone lets a large upload take 80
   * MiB before it runs.
   */
  recycle(memory: ArrayBufferLike): void {
    if (this.#lent.delete(memory)) this.#free.push(memory as ArrayBuffer)
  }

  /** Answers; what arrives after it is dropped. */
  answer(answer: Answer): void {
    this.#drop()
    this.#exchange.resume()
    this.#exchange.answer(answer)
  }

  cancel(): void {
    if (!this.#isComplete || this.#waitingBytes > 0) this.#failure ??= new ClientGone('The client went away')
    this.#drop()
    this.#arrival.resolve()
  }

  get #waitingBytes(): number {
    return this.#piecesBytes + (this.#spillFile?.sizeBytes ?? 0)
  }

  /** Drops the pieces that are there, and all later ones. */
  #drop(): void {
    this.#isUnwanted = true
    this.#pieces = []
    this.#piecesBytes = 0
    this.#spillFile?.close()
    this.#spillFile = null
  }

  #lend(): ArrayBuffer {
    const memory = this.#free.pop() ?? new ArrayBuffer(pieceBytes)
    this.#lent.add(memory)
    return memory
  }

  /**
   * Resumes the client. After the last piece the connection stays paused until the answer: resuming starts
   * uWebSockets.js's timeout for more input, which would end it in the middle of the handler's work.
   */
  #makeRoom(): void {
    if (!this.#isComplete && this.#waitingBytes < pauseBytes) this.#exchange.resume()
  }

  async #waitForData(): Promise<void> {
    await this.#arrival.promise
    this.#arrival = Promise.withResolvers()
  }

  /** Copies a chunk, whose memory is reused after this call. */
  #keep(chunk: Uint8Array): void {
    // The bytes in the file are older, and are read first.
    const isBehind = this.#spillFile !== null && this.#spillFile.sizeBytes > 0
    if (isBehind || this.#piecesBytes > memoryBytes) return this.#spill(chunk)
    for (let start = 0; start < chunk.length; start += pieceBytes) {
      const memory = this.#lend()
      const part = chunk.subarray(start, start + pieceBytes)
      const piece = Buffer.from(memory, 0, part.length)
      piece.set(part)
      this.#pieces.push(piece)
      this.#piecesBytes += piece.length
    }
  }

  /** An exception here would have no one to catch it and end the process. */
  #spill(chunk: Uint8Array): void {
    try {
      this.#spillFile ??= new SpillFile()
      this.#spillFile.write(chunk)
    } catch (cause) {
      this.#refusal = Object.assign(overloaded(), { cause })
      this.#drop()
    }
  }
}
