import type { Incoming } from './frames.ts'

/** The used part of the WebSocket interface. */
export interface WebSocketLike {
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open', listener: () => void): void
  addEventListener(type: 'message', listener: (message: { data: unknown }) => void): void
  addEventListener(type: 'close', listener: (end: { code: number }) => void): void
  addEventListener(type: 'error', listener: () => void): void
}

export type WebSocketType = new (url: string, protocols: string[]) => WebSocketLike

export interface SocketOptions {
  url: string
  token: string
  /**
   * True to send the token in a frame after connecting: the server then gives the reason of a refusal, which browsers
   * hide for upgrades.
   */
  saysHello: boolean
  WebSocket: WebSocketType
  onFrame: (frame: Incoming) => void
  /** Called once, with the close code. */
  onClose: (code: number) => void
}

/** A connection that is silent for this long is pinged. */
const silentMs = 20_000

/** How long the server may take to open a connection or to answer. */
const answerTimeoutMs = 10_000

/** How long the server may take to answer a probe. */
const probeTimeoutMs = 1_500

/** The server ends connections that were silent for 30 seconds, so this one is surely gone. */
const goneMs = 35_000

/**
 * How long a connection that failed may take to give its close code. The WebSocket of Node.js 22 gives none where the
 * server refused to open it.
 */
const closingMs = 100

/** The close code of a connection that was lost (RFC 6455, section 7.4.1). */
const broken = 1006

/**
 * One connection. It counts as alive while frames arrive, whatever `readyState` says, and ends for good when the other
 * side is gone.
 */
export class Socket {
  readonly #options: SocketOptions
  readonly #socket: WebSocketLike
  #timer: ReturnType<typeof setTimeout> | undefined
  #heardAt = Date.now()
  #isAsked = false
  #isOver = false

  constructor(options: SocketOptions) {
    const { url, token, saysHello, WebSocket } = options
    this.#options = options
    this.#socket = new WebSocket(`${url}?scalars=number`, saysHello ? ['json'] : ['json', `bearer.${token}`])
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

  /** Finds out at once whether the server is still there. */
  probe(): void {
    if (this.#isOver) return
    if (Date.now() - this.#heardAt > goneMs) return this.#drop()
    if (!this.#isAsked) this.send({ type: 'ping' })
    this.#isAsked = true
    this.#wait(probeTimeoutMs)
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
    this.#heardAt = Date.now()
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
    if (this.#isAsked) return this.#drop()
    this.#isAsked = true
    this.send({ type: 'ping' })
    this.#wait(answerTimeoutMs)
  }

  /** A dead connection closes after minutes: its end is not waited for. */
  #drop(): void {
    this.#socket.close()
    this.#end(broken)
  }

  #end(code: number): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#options.onClose(code)
  }
}
