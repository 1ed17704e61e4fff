import { STATUS_CODES } from 'node:http'
import type { Readable } from 'node:stream'
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
  /** Called once for each exchange, with the status of the answer, or 499 when the client went away before it. */
  onEnd(exchange: Exchange, status: number): void
}

/**
 * What uWebSockets.js collects before it calls the system, and what an empty send buffer always has room for. A longer
 * answer is handed over as the client takes it: what uWebSockets.js buffers of it is lost when the node stops.
 */
const corkBytes = 16 * 1024

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
  /** True: the connection ends with the answer, whatever the server does. */
  isLast = false
  #req: HttpRequest | null
  #res: HttpResponse | null
  #body: BodyTaker | null = null
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

  get #endsConnection(): boolean {
    return this.isLast || this.#host.isEnding
  }

  /** A header of the request, empty if absent. `name` in lower case. Only before `detach`. */
  header(name: string): string {
    if (this.#req === null) throw new Error(`The header ${name} was asked for after the request was freed`)
    return this.#req.getHeader(name)
  }

  /** True where the end of the request and its host are unambiguous; see `isClearlyFramed`. Only before `detach`. */
  get isClearlyFramed(): boolean {
    if (this.#req === null) throw new Error('The headers were asked for after the request was freed')
    return isClearlyFramed(this.#req)
  }

  /** The IP address of the peer, empty once the exchange is over. */
  get address(): string {
    return this.#res === null ? '' : toAddress(Buffer.from(this.#res.getRemoteAddress()))
  }

  /** Receives the body as it arrives. Only before `detach`: earlier chunks are lost. */
  receive(body: BodyTaker): void {
    this.#body = body
    this.#res?.onData((chunk, isLast) => body.take(chunk, isLast))
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
      if (this.#res !== null) this.#end(499)
    })
  }

  /**
   * Sends a whole answer, in one write where the client takes it so; the exchange ends when all of it has been handed
   * over.
   */
  answer(answer: Answer): void {
    const res = this.#res
    if (res === null || this.#isAnswered) return
    // Checked before the first write: half an answer cannot be taken back.
    for (const name in answer.headers) requireSafe(name, answer.headers[name]!)
    this.#isAnswered = true
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

  #writeHead(res: HttpResponse, { status, type, headers }: Answer): void {
    // uWebSockets.js writes a status as it is, so headers go along: one call instead of one each.
    let head = statusLines[status] ?? String(status)
    if (type !== undefined) head += `\r\nContent-Type: ${type}`
    head += this.standing
    for (const name in headers) head += `\r\n${name}: ${headers[name]!}`
    res.writeStatus(head)
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

/** Writes an address of 4 or 16 bytes; IPv4-mapped IPv6 becomes IPv4. */
export function toAddress(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.readBigUInt64BE(0) === 0n && bytes.readUInt32BE(8) === 0xffff) return bytes.subarray(12).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16)).join(':')
  // The WHATWG URL parser knows how to shorten an IPv6 address.
  return new URL(`http://[${groups}]`).hostname.slice(1, -1)
}
