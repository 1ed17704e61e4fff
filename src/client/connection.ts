import type { Incoming } from './events.ts'

/** The used part of the WebSocket interface. */
export interface Socket {
  binaryType: string
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open', listener: () => void): void
  addEventListener(type: 'message', listener: (message: { data: unknown }) => void): void
  addEventListener(type: 'close', listener: (end: { code: number }) => void): void
  addEventListener(type: 'error', listener: () => void): void
}

export type SocketType = new (url: string, protocols: string[]) => Socket

export interface ConnectionOptions {
  url: string
  token: string
  /**
   * True to send the token in a frame after connecting: the server then gives the reason of a refusal, which browsers
   * hide for upgrades.
   */
  saysHello: boolean
  Socket: SocketType
  onFrame: (frame: Incoming) => void
  /** Called once, with the close code. */
  onClose: (code: number) => void
}

/** A connection that is silent for this long is pinged. */
const silentMs = 20_000

/** How long the server may take to open a connection or to answer. */
const answerTimeoutMs = 10_000

/**
 * How long a connection that failed may take to give its close code. The WebSocket of Node.js 22 gives none where the
 * server refused to open it.
 */
const closingMs = 100

/** The close code of a connection that was lost (RFC 6455, section 7.4.1). */
const broken = 1006

/** One connection. Detects when the other side is gone, and then ends for good. */
export class Connection {
  readonly #options: ConnectionOptions
  readonly #socket: Socket
  #timer: ReturnType<typeof setTimeout> | undefined
  #isAsked = false
  #isOver = false

  constructor(options: ConnectionOptions) {
    const { url, token, saysHello, Socket } = options
    this.#options = options
    this.#socket = new Socket(`${url}?scalars=number`, saysHello ? ['json'] : ['json', `bearer.${token}`])
    this.#socket.addEventListener('open', () => {
      if (saysHello) this.send({ type: 'hello', access_token: token, scalars: 'number' })
    })
    this.#socket.addEventListener('message', ({ data }) => this.#onMessage(String(data)))
    this.#socket.addEventListener('close', ({ code }) => this.#end(code))
    this.#socket.addEventListener('error', () => this.#onError())
    this.#isAsked = true
    this.#wait(answerTimeoutMs)
  }

  send(frame: object): void {
    if (!this.#isOver) this.#socket.send(JSON.stringify(frame))
  }

  /** Ends it without calling `onClose`. */
  close(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#socket.close(1000)
  }

  #onMessage(text: string): void {
    if (this.#isOver) return
    this.#isAsked = false
    this.#wait(silentMs)
    const frame = JSON.parse(text) as Incoming
    if (frame.type !== 'pong') this.#options.onFrame(frame)
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#onSilence(), ms)
  }

  #onError(): void {
    if (this.#isOver) return
    this.#isAsked = true
    this.#wait(closingMs)
  }

  /** Pings after a silence, then gives up. */
  #onSilence(): void {
    if (this.#isAsked) {
      this.#socket.close()
      return this.#end(broken)
    }
    this.#isAsked = true
    this.send({ type: 'ping' })
    this.#wait(answerTimeoutMs)
  }

  #end(code: number): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#options.onClose(code)
  }
}
