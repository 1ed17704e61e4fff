import type { Incoming } from './events.ts'

/** As much of a WebSocket as is used: that of browsers and Node, or another with the same members. */
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
  /** True to say the token after connecting: the server then says what is wrong with it, which browsers else hide. */
  saysHello: boolean
  Socket: SocketType
  onFrame: (frame: Incoming) => void
  /** Called once, with the close code. */
  onClose: (code: number) => void
}

/** A connection that was silent for this long is asked whether it is there. */
const silentMs = 20_000

/** How long the server may take to open a connection or to answer. */
const patienceMs = 10_000

/** The code for a connection that broke without saying why. */
const broken = 1006

/** One connection. It notices by itself when the other side has gone; then it ends, and is of no use any more. */
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
    // Whatever it was, the close event follows.
    this.#socket.addEventListener('error', () => {})
    this.#isAsked = true
    this.#wait(patienceMs)
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

  /** Nothing came for a while: ask once, then give up. */
  #onSilence(): void {
    if (this.#isAsked) {
      this.#socket.close()
      return this.#end(broken)
    }
    this.#isAsked = true
    this.send({ type: 'ping' })
    this.#wait(patienceMs)
  }

  #end(code: number): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#options.onClose(code)
  }
}
