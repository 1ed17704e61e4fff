import { overloaded, type Problem } from '../../lib/errors.ts'
import { lingerBytes, PayloadTooLarge } from './body.ts'
import type { Answer, BodyTaker, Exchange } from '../server/exchange.ts'
import { SpillFile } from './spill-file.ts'

/** What may be waiting for the handler before the client is told to wait as well. A guess. */
const waitingBytes = 256 * 1024

const pieceBytes = 128 * 1024

/** What waits beyond this goes to a file. */
const memoryBytes = 2 * 1024 * 1024

/** The client went away before its body was complete. Nobody is left to be told. */
export class ClientGone extends Error {}

/**
 * The raw body of a request, for a handler that reads it piece by piece as it arrives: a slow handler slows the client
 * down. Reading fails with 413 beyond the limit, and when the client goes away. What had arrived already when the client
 * was told to wait is kept in memory up to `memoryBytes`, and beyond that in a file. Where there can be no such file,
 * reading fails with 503.
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
  #overflow: SpillFile | null = null
  #failure: Error | null = null
  /** Why nothing is kept any more, to be told to a client that is still sending. */
  #refusal: Problem | null = null
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
    if (this.#waitingBytes > waitingBytes && !isLast) this.#exchange.pause()
    this.#arrival.resolve()
  }

  /** To be read once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.#pieces.shift()
      if (piece !== undefined) {
        this.#piecesBytes -= piece.length
        this.#makeRoom()
        yield piece
      } else if (this.#overflow !== null && this.#overflow.sizeBytes > 0 && this.#failure === null) {
        const memory = this.#lend()
        const count = await this.#overflow.read(new Uint8Array(memory))
        this.#makeRoom()
        yield Buffer.from(memory, 0, count)
      } else if (this.#failure !== null || this.#refusal !== null) {
        throw this.#failure ?? this.#refusal
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
    this.#drop()
    this.#limitBytes = Math.min(this.#limitBytes, this.#sizeBytes + lingerBytes)
    exchange.resume()
    while (!this.#isComplete && this.#failure === null) await this.#news()
    // What is left of the body would be taken for the next request.
    exchange.isLast ||= !this.#isComplete
    exchange.answer(answer)
  }

  cancel(): void {
    if (!this.#isComplete || this.#waitingBytes > 0) this.#failure ??= new ClientGone('The client went away')
    this.#drop()
    this.#arrival.resolve()
  }

  get #waitingBytes(): number {
    return this.#piecesBytes + (this.#overflow?.sizeBytes ?? 0)
  }

  /** What is there, and what comes. */
  #drop(): void {
    this.#isUnwanted = true
    this.#pieces = []
    this.#piecesBytes = 0
    this.#overflow?.close()
    this.#overflow = null
  }

  #lend(): ArrayBuffer {
    const memory = this.#free.pop() ?? new ArrayBuffer(pieceBytes)
    this.#lent.add(memory)
    return memory
  }

  /**
   * Lets the client send on. When all has come the connection stays as it is until the answer: resuming it starts
   * uWebSockets.js's clock for what is still to come, which would cut it off in the middle of the handler's work.
   */
  #makeRoom(): void {
    if (!this.#isComplete && this.#waitingBytes < waitingBytes) this.#exchange.resume()
  }

  async #news(): Promise<void> {
    await this.#arrival.promise
    this.#arrival = Promise.withResolvers()
  }

  /** Copies what arrived, which is gone when this call returns. */
  #keep(chunk: Uint8Array): void {
    // What is in the file is older, and is read first.
    const isBehind = this.#overflow !== null && this.#overflow.sizeBytes > 0
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

  /** Nobody is above to catch what is thrown: it would end the process. */
  #spill(chunk: Uint8Array): void {
    try {
      this.#overflow ??= new SpillFile()
      this.#overflow.write(chunk)
    } catch (cause) {
      this.#refusal = Object.assign(overloaded(), { cause })
      this.#drop()
    }
  }
}
