import { STATUS_CODES } from 'node:http'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { Span } from '../../lib/tracer.ts'
import type { RouteDurations } from '../about/durations.ts'
import { isClearlyFramed } from '../request/head.ts'

/** Receives the body of a request. */
export interface BodyTaker {
  /** uWebSockets.js reuses the memory of `chunk` after the call. */
  take(chunk: ArrayBuffer, isLast: boolean): void
  /** The rest of the body will not arrive or is not needed. */
  cancel(): void
}

export interface Answer {
  status: number
  /** Content-Type; required with a body. */
  type?: string
  headers?: Readonly<Record<string, string>> | undefined
  body?: string | Uint8Array | undefined
  /** The Content-Length of a HEAD response without `body`; null where it is unknown. */
  lengthBytes?: number | null
}

/** What a port serves: everything, everything but administration, or administration alone. */
export type PortKind = 'shared' | 'public' | 'admin'

/** The server that an exchange belongs to. */
export interface ExchangeHost {
  /** True where connections end with their next answer. */
  readonly isEnding: boolean
  /** True where no answer may be given that was made of what the server knows. */
  readonly isWithdrawn: boolean
  /** The answer that is given instead, where it is withdrawn. */
  insteadOf(answer: Answer, exchange: Exchange): Answer
  /** Called once for each exchange, with the status of the answer, or 499 when the client went away before it. */
  onEnd(exchange: Exchange, status: number): void
  /** The exchange is answered while its client is still sending: its connection has to be ended a moment later. */
  onLinger(connection: Lingering): void
}

/**
 * What uWebSockets.js collects before it calls the system, and what an empty send buffer always has room for. A longer
 * answer is handed over as the client takes it: what uWebSockets.js buffers of it is lost when the node stops.
 */
const corkBytes = 16 * 1024

/** True for a request whose body may be longer than what is still read after the answer. */
function mayBeLong(req: HttpRequest): boolean {
  return Number(req.getHeader('content-length')) > lingerBytes || req.getHeader('transfer-encoding') !== ''
}

/** For a body that no one takes. */
const noOne: BodyTaker = { take() {}, cancel() {} }

/** How much of a body is still read after the answer. Beyond it the client has to wait for the end of its connection. */
const lingerBytes = 16 * 1024 * 1024

/** `422 Unprocessable Entity`: the rest of the status line after the version. */
const statusLines: Record<number, string> = Object.fromEntries(
  Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text}`]),
)

/**
 * One request and its answer; no other file touches uWebSockets.js's request and response. The request can be read
 * until `detach`, which the creator calls before uWebSockets.js's handler returns. Only the first answer counts, and
 * none once the client has gone away.
 */
export class Exchange {
  readonly method: string
  readonly path: string
  /** Without the question mark; empty if there is none. */
  readonly query: string
  readonly startedAt = performance.now()
  /** The kind of port that it arrived on. */
  readonly port: PortKind
  /** Headers of every answer, refusals included, each as `name: value` after a line end. */
  standing = ''
  /** The request's id in logs and answers. */
  id = ''
  /** The histogram of its duration, once the route is known. */
  durations: RouteDurations | undefined
  /** Null where requests are not traced. */
  span: Span | null = null
  /** Called when the client goes away before it has the answer. */
  onGone: (() => void) | null = null
  /** True: the connection ends with the answer, whatever the server does. */
  isLast = false
  /** False where the rest of a refused body is not read: that would cost as much as what was refused. */
  readsOn = true
  #req: HttpRequest | null
  #res: HttpResponse | null
  #body: BodyTaker | null = null
  /** True until the end of a body that is received. */
  #isSending = false
  /** Set once an answer was given while the client was sending. */
  #lingering: Lingering | null = null
  #source: Readable | null = null
  #isPaused = false
  #isAnswered = false
  readonly #host: ExchangeHost

  constructor(res: HttpResponse, req: HttpRequest, host: ExchangeHost, port: PortKind = 'shared') {
    this.#res = res
    this.#req = req
    this.#host = host
    this.port = port
    this.method = req.getCaseSensitiveMethod()
    this.path = req.getUrl()
    // Undefined without a query, contrary to the types.
    this.query = req.getQuery() || ''
  }

  /** True once it has been answered, or the client has gone away. */
  get isOver(): boolean {
    return this.#res === null
  }

  get #endsConnection(): boolean {
    return this.isLast || this.#host.isEnding
  }

  /** A header of the request, empty if absent. `name` in lower case. Only before `detach`. */
  header(name: string): string {
    if (this.#req === null) throw new Error(`The header ${name} was asked for after the request was freed`)
    return this.#req.getHeader(name)
  }

  /** Visits all lines of the head, a repeated header once per line. Only before `detach`. */
  forEach(visit: (name: string, value: string) => void): void {
    if (this.#req === null) throw new Error('The headers were asked for after the request was freed')
    this.#req.forEach(visit)
  }

  /** True where the end of the request and its host are unambiguous; see `isClearlyFramed`. Only before `detach`. */
  get isClearlyFramed(): boolean {
    return isClearlyFramed(this)
  }

  /** The IP address of the peer, empty once the exchange is over. */
  get address(): string {
    return this.#res === null ? '' : toAddress(Buffer.from(this.#res.getRemoteAddress()))
  }

  /** Receives the body as it arrives. Only before `detach`: earlier chunks are lost. */
  receive(body: BodyTaker): void {
    this.#body = body
    this.#isSending = true
    this.#res?.onData((chunk, isLast) => {
      this.#isSending = !isLast
      if (this.#lingering === null) body.take(chunk, isLast)
      else this.#lingering.discard(chunk.byteLength, isLast)
    })
  }

  /** Leaves the rest of a refused body unread: the connection ends with the answer. Only before `detach`. */
  leaveUnread(): void {
    this.readsOn = false
    if (this.#body === null) this.receive(noOne)
  }

  /** Pauses the client's body. Bytes on their way still arrive. */
  pause(): void {
    this.#isPaused = true
    this.#res?.pause()
  }

  /** Undoes `pause`. uWebSockets.js stops reading for good where a connection is resumed that was not paused. */
  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#res?.resume()
  }

  /** Ends access to the request, which uWebSockets.js frees. */
  detach(): void {
    this.#req = null
    // Also called when the client goes away during a large answer; then there is nothing left to do.
    this.#res?.onAborted(() => {
      if (this.#res === null) return
      this.#end(499)
      this.onGone?.()
    })
  }

  /**
   * Sends a whole answer, in one write where the client takes it so; the exchange ends when all of it has been handed
   * over. Where the client is still sending its body, the connection ends a moment later: see `Lingering`.
   */
  answer(given: Answer): void {
    const res = this.#res
    if (res === null || this.#isAnswered) return
    const answer = this.#host.isWithdrawn ? this.#host.insteadOf(given, this) : given
    // uWebSockets.js reads what no one takes to its end, however long it is.
    if (answer.status >= 400 && this.#body === null && this.#req !== null && mayBeLong(this.#req)) this.receive(noOne)
    // Checked before the first write: half an answer cannot be taken back.
    for (const name in answer.headers) requireSafe(name, answer.headers[name]!)
    this.#isAnswered = true
    if (this.#isSending && !this.isLast) void this.#answerEarly(answer)
    else this.#answerNow(res, answer)
  }

  #answerNow(res: HttpResponse, answer: Answer): void {
    let isOver = false
    // Within uWebSockets.js's handler the answer is corked already.
    if (this.#req === null) res.cork(() => (isOver = this.#write(res, answer)))
    else isOver = this.#write(res, answer)
    if (isOver) this.#end(answer.status)
  }

  /**
   * Sends the head, then the body as it is read, no faster than the client takes it. Only after `detach`. If the source
   * fails, or its length differs from `lengthBytes`, the connection is closed: the head cannot be taken back.
   */
  stream(answer: Answer, source: Readable, lengthBytes: number | null): void {
    const res = this.#res
    if (res === null) return void source.destroy()
    if (this.#host.isWithdrawn) {
      source.destroy()
      return this.answer(answer)
    }
    for (const name in answer.headers) requireSafe(name, answer.headers[name]!)
    this.#isAnswered = true
    this.#source = source
    res.cork(() => {
      this.#writeHead(res, answer)
      if (this.#endsConnection) res.writeHeader('Connection', 'close')
    })
    const send = lengthBytes === null ? sendChunk : sendPart(lengthBytes)
    const write = (chunk: Uint8Array) => {
      // Null when the client is gone, which a callback that is under way may find.
      if (this.#res === null) return true
      let isSent = false
      res.cork(() => {
        const sent = send(res, chunk)
        isSent = sent !== 'full'
        if (sent === 'done') this.#end(answer.status)
      })
      return isSent
    }
    let waiting: Uint8Array | null = null
    let startedAt = 0
    source.on('data', (chunk: Uint8Array) => {
      if (this.#res === null) return
      startedAt = res.getWriteOffset()
      if (write(chunk)) return
      waiting = chunk
      source.pause()
    })
    res.onWritable(offset => {
      if (waiting !== null && lengthBytes !== null && !write(waiting.subarray(offset - startedAt))) return false
      waiting = null
      source.resume()
      return true
    })
    source.on('end', () => {
      if (this.#res === null) return
      if (lengthBytes !== null) return void res.close()
      res.cork(() => res.end())
      this.#end(answer.status)
    })
    source.on('error', () => this.#res?.close())
  }

  /** Answers a client that may still be sending: in a later turn, because the whole body may be in what has come. */
  async #answerEarly(answer: Answer): Promise<void> {
    await nextTurn()
    const res = this.#res
    if (res === null) return
    if (!this.#isSending) return this.#answerNow(res, answer)
    const { status, body = '' } = answer
    const hasBody = status !== 204 && status !== 304 && this.method !== 'HEAD'
    let head = `${this.#headOf(answer)}\r\nConnection: close`
    if (hasBody) head += `\r\nContent-Length: ${Buffer.byteLength(body)}`
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const text = Buffer.concat([Buffer.from(`${head}\r\n\r\n`), ...(hasBody ? [bytes] : [])])
    const lingering = new Lingering(res, this.readsOn ? lingerBytes : 0)
    this.#lingering = lingering
    res.onAborted(() => lingering.forget())
    // All of it as the status, so that to uWebSockets.js the response stays open: ended, it could not be closed any more.
    // Clients ignore the line end that it writes after it (RFC 9112, section 2.2).
    res.cork(() => res.writeStatus(text))
    this.#host.onLinger(lingering)
    this.#end(status)
  }

  #writeHead(res: HttpResponse, answer: Answer): void {
    res.writeStatus(this.#headOf(answer))
  }

  /** Status and headers. uWebSockets.js writes a status as it is, so headers go along: one call instead of one each. */
  #headOf({ status, type, headers }: Answer): string {
    let head = statusLines[status] ?? String(status)
    if (type !== undefined) head += `\r\nContent-Type: ${type}`
    head += this.standing
    for (const name in headers) head += `\r\n${name}: ${headers[name]!}`
    return head
  }

  /** False where the client has to take a part before the rest can be sent. */
  #write(res: HttpResponse, answer: Answer): boolean {
    const { status, body = '' } = answer
    this.#writeHead(res, answer)
    if (this.isLast && this.method === 'HEAD') {
      // Nothing after it on this connection must be read, whatever length the answer states for a body that it lacks.
      res.end('', true)
      return true
    }
    if (status !== 204 && status !== 304 && this.method !== 'HEAD') {
      if (body.length > corkBytes) return this.#writeAsTaken(res, body, status)
      res.end(body, this.#endsConnection)
      return true
    }
    // Without arguments, because with them this version leaves the response open and ends the process. So the client
    // has to close the connection.
    if (this.#endsConnection) res.writeHeader('Connection', 'close')
    const { lengthBytes = Buffer.byteLength(body) } = answer
    if (status !== 204 && status !== 304 && lengthBytes !== null) {
      res.writeHeader('Content-Length', String(lengthBytes))
    }
    res.endWithoutBody()
    return true
  }

  #writeAsTaken(res: HttpResponse, body: string | Uint8Array, status: number): boolean {
    if (this.#endsConnection) res.writeHeader('Connection', 'close')
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const [, isWhole] = res.tryEnd(bytes, bytes.length)
    if (isWhole) return true
    res.onWritable(offset => {
      const [isTaken, isOver] = res.tryEnd(bytes.subarray(offset), bytes.length)
      if (isOver) this.#end(status)
      return isTaken
    })
    return false
  }

  #end(status: number): void {
    this.#res = null
    this.#body?.cancel()
    this.#body = null
    this.#source?.destroy()
    this.#source = null
    this.#host.onEnd(this, status)
  }
}

/**
 * A connection whose client got its answer while it was still sending. Closed at once it would be reset, and the client
 * would lose the answer, as most read it only when they have sent everything, and Node.js drops it where a write fails.
 * So the rest is read and dropped up to a limit; then the client has to wait, and may read the answer meanwhile.
 * The owner of the exchange closes it after a moment, unless the client has finished before.
 */
export class Lingering {
  readonly since = performance.now()
  #res: HttpResponse | null
  #leftBytes: number

  /** `leftBytes`: so much of the rest is read. */
  constructor(res: HttpResponse, leftBytes: number) {
    this.#res = res
    this.#leftBytes = leftBytes
  }

  /** False once the connection is closed. */
  get isOpen(): boolean {
    return this.#res !== null
  }

  /** Drops a piece of the body; with the last one, the connection ends. */
  discard(sizeBytes: number, isLast: boolean): void {
    this.#leftBytes -= sizeBytes
    if (isLast) this.close()
    else if (this.#leftBytes < 0) this.#res?.pause()
  }

  close(): void {
    this.#res?.close()
  }

  /** The connection is gone. */
  forget(): void {
    this.#res = null
  }
}

/** The state after sending a piece of a body: room for more, none for now, or complete. */
type Sent = 'more' | 'full' | 'done'

/** Sends a piece of a body of unknown length. uWebSockets.js buffers what finds no room. */
function sendChunk(res: HttpResponse, chunk: Uint8Array): Sent {
  return res.write(chunk) ? 'more' : 'full'
}

/** Sends pieces of a body of known length. What finds no room has to be sent again. */
function sendPart(lengthBytes: number) {
  return (res: HttpResponse, chunk: Uint8Array): Sent => {
    const [isSent, isOver] = res.tryEnd(chunk, lengthBytes)
    return isOver ? 'done' : isSent ? 'more' : 'full'
  }
}

/** A line end in a value would let its author write headers, and a whole answer (response splitting). */
function requireSafe(name: string, value: string): void {
  if (/[^\P{Cc}\t]/u.test(value)) throw new Error(`The value of the header ${name} has a control character`)
}

/** Writes an address of 4 or 16 bytes; IPv4-mapped IPv6 becomes IPv4. Empty where the connection has lost its client. */
export function toAddress(bytes: Buffer): string {
  if (bytes.length === 0) return ''
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.readBigUInt64BE(0) === 0n && bytes.readUInt32BE(8) === 0xffff) return bytes.subarray(12).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16)).join(':')
  // The WHATWG URL parser knows how to shorten an IPv6 address.
  return new URL(`http://[${groups}]`).hostname.slice(1, -1)
}
