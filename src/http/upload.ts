import { lingerBytes, PayloadTooLarge } from './body.ts'
import type { Answer, BodyTaker, Exchange } from './exchange.ts'

/** What may be waiting for the handler before the client is told to wait as well. A guess. */
const waitingBytes = 256 * 1024

const pieceBytes = 128 * 1024

/** The client went away before its body was complete. Nobody is left to be told. */
export class ClientGone extends Error {}

/**
 * The raw body of a request, for a handler that reads it piece by piece as it arrives: a slow handler slows the client
 * down. Reading fails with 413 beyond the limit, and when the client goes away. Beyond `waitingBytes`, there may wait
 * here what the system had received already when the client was told to wait: some megabytes at most.
 */
export class Upload implements BodyTaker, AsyncIterable<Uint8Array> {
  readonly contentType: string
  readonly #exchange: Exchange
  /** Becomes smaller when nobody wants the rest any more. */
  #limitBytes: number
  #sizeBytes = 0
  #isComplete = false
  /** What arrived and was not read, oldest first. */
  #pieces: Uint8Array[] = []
  #piecesBytes = 0
  #failure: Error | null = null
  #isUnwanted = false
  #arrival = Promise.withResolvers<void>()
  readonly #free: ArrayBuffer[] = []
  readonly #lent = new WeakSet<ArrayBufferLike>()

  /** Only before `exchange.detach`. Throws what is too large by its own account. */
  constructor(exchange: Exchange, limitBytes: number) {
    if (Number(exchange.header('content-length')) > limitBytes) throw PayloadTooLarge()
    this.contentType = exchange.header('content-type')
    this.#limitBytes = limitBytes
    this.#exchange = exchange
    exchange.receive(this)
  }

  take(chunk: ArrayBuffer, isLast: boolean): void {
    this.#sizeBytes += chunk.byteLength
    this.#isComplete = isLast
    if (this.#sizeBytes > this.#limitBytes) this.#failure ??= PayloadTooLarge()
    else if (!this.#isUnwanted) this.#keep(new Uint8Array(chunk))
    if (this.#piecesBytes > waitingBytes && !isLast) this.#exchange.pause()
    this.#arrival.resolve()
  }

  /** To be read once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.#pieces.shift()
      if (piece !== undefined) {
        this.#piecesBytes -= piece.length
        if (this.#piecesBytes < waitingBytes) this.#exchange.resume()
        yield piece
      } else if (this.#failure !== null) {
        throw this.#failure
      } else if (this.#isComplete) {
        return
      } else {
        await this.#news()
      }
    }
  }

  /**
   * Takes back the memory of pieces that nobody will look at again, to be used for what comes next. Without that it is
   * left to the garbage collector, which lets a large upload take 80 MiB before it looks.
   */
  recycle(memory: ArrayBufferLike): void {
    if (this.#lent.delete(memory)) this.#free.push(memory as ArrayBuffer)
  }

  /** Reads on for a while before it answers: a client that is still sending reads nothing. */
  async answer(exchange: Exchange, answer: Answer): Promise<void> {
    this.#isUnwanted = true
    this.#pieces = []
    this.#limitBytes = Math.min(this.#limitBytes, this.#sizeBytes + lingerBytes)
    exchange.resume()
    while (!this.#isComplete && this.#failure === null) await this.#news()
    // What is left of the body would be taken for the next request.
    exchange.isLast ||= !this.#isComplete
    exchange.answer(answer)
  }

  cancel(): void {
    if (!this.#isComplete) this.#failure ??= new ClientGone('The client went away')
    this.#arrival.resolve()
  }

  async #news(): Promise<void> {
    await this.#arrival.promise
    this.#arrival = Promise.withResolvers()
  }

  /** Copies what arrived, which is gone when this call returns. */
  #keep(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length; start += pieceBytes) {
      const memory = this.#free.pop() ?? new ArrayBuffer(pieceBytes)
      const part = chunk.subarray(start, start + pieceBytes)
      const piece = Buffer.from(memory, 0, part.length)
      piece.set(part)
      this.#lent.add(memory)
      this.#pieces.push(piece)
      this.#piecesBytes += piece.length
    }
  }
}
