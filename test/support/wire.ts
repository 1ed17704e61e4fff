import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** An answer as it came over the wire. */
export interface WireAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** For whatever is waited for: only what never comes takes as long. */
const deadlineMs = 20_000

/** A bare TCP connection, for requests that no HTTP client would make. */
export class Wire {
  readonly #socket: Socket
  readonly #closed: Promise<'closed'>
  #received = ''

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#closed = new Promise(resolve => socket.on('close', () => resolve('closed')))
    socket.on('data', chunk => (this.#received += chunk.toString('latin1')))
    // A reset ends the connection too; `closed` tells.
    socket.on('error', () => {})
  }

  static async open(port: number): Promise<Wire> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new Wire(socket)
  }

  /** Resolves when the bytes are on their way. */
  send(bytes: string | Buffer): Promise<void> {
    return new Promise(resolve => this.#socket.write(bytes, () => resolve()))
  }

  /** The next answer; one to HEAD has no body whatever its length says. */
  async answer({ isHead = false } = {}): Promise<WireAnswer> {
    const deadline = Date.now() + deadlineMs
    for (;;) {
      const answer = this.#take(isHead)
      if (answer !== undefined) return answer
      if (Date.now() > deadline) throw new Error(`No answer in time, only: ${this.#shown}`)
      await Promise.race([once(this.#socket, 'data'), this.#closed, delay(50)]).catch(() => {})
      if (this.#socket.closed && this.#take(isHead, true) === undefined) {
        throw new Error(`Closed without an answer, after ${this.#shown}`)
      }
    }
  }

  /** Resolves when the other end has closed the connection. */
  closed(): Promise<'closed' | 'open'> {
    return Promise.race([this.#closed, delay(deadlineMs, 'open' as const, { ref: false })])
  }

  /** Reads nothing from now on. */
  pause(): void {
    this.#socket.pause()
  }

  /** Reads on. */
  resume(): void {
    this.#socket.resume()
  }

  /** Breaks the connection off. */
  destroy(): void {
    this.#socket.destroy()
  }

  get #shown(): string {
    return JSON.stringify(this.#received.slice(0, 1000))
  }

  #take(isHead: boolean, isPeek = false): WireAnswer | undefined {
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return undefined
    const [first = '', ...lines] = this.#received.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = isHead ? 0 : Number(headers['content-length'] ?? 0)
    const rest = this.#received.slice(end + 4)
    if (rest.length < length) return undefined
    if (!isPeek) this.#received = rest.slice(length)
    return { status: Number(first.split(' ')[1]), headers, body: rest.slice(0, length) }
  }
}

/** The text of a request; a body brings its length. */
export function requestText(method: string, target: string, headers: Record<string, string> = {}, body = ''): string {
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const all = Object.entries({ Host: 'localhost', ...length, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return `${method} ${target} HTTP/1.1\r\n${all.join('')}\r\n${body}`
}
