import { ParleyError, toParleyError } from '../http/error.ts'
import type { Token } from '../http/token.ts'
import { codes, finalCodes, toDelayMs } from './delays.ts'
import type { Incoming } from './frames.ts'
import { Socket, type WebSocketType } from './socket.ts'
import { watchWaking } from './wake.ts'

/** The state of the connection. */
export type ConnectionStatus =
  /** Nothing is subscribed, so there is no connection. */
  | { state: 'idle' }
  | { state: 'connecting' }
  | { state: 'connected'; user: number }
  /** Lost, and tried again after a pause. `error` says why, where it is known. */
  | { state: 'waiting'; delayMs: number; error?: ParleyError }
  /** Final: closed by `close`, or refused by the server. */
  | { state: 'closed'; code: number | null; error?: ParleyError }

export interface ConnectionListener {
  /** The connection is open again: what was subscribed is to be subscribed again. */
  opened?: () => void
  lost?: () => void
  frame?: (frame: Incoming) => void
}

export interface ConnectionOptions {
  url: string
  token: Token
  /** Default: the global WebSocket, which browsers and Node.js 22 have. */
  WebSocket?: WebSocketType | undefined
  warn: (error: ParleyError) => void
}

/** The least pause between requests for a token, even where each one is about to expire. */
const tokenPauseMs = 1_000

/** The longest delay of a timer. */
const timerLimitMs = 2 ** 31 - 1

/**
 * The one connection of a client: open while something holds it. It connects again with growing random pauses, at once
 * when the page wakes, and renews its token in time.
 */
export class Connection {
  status: ConnectionStatus = { state: 'idle' }
  readonly #options: ConnectionOptions
  readonly #listeners = new Set<ConnectionListener>()
  readonly #watchers = new Set<() => void>()
  #holders = 0
  #socket: Socket | null = null
  /** Of the attempt to connect; an answer to an earlier one is dropped. */
  #attempt = 0
  #failures = 0
  #refused: string | undefined
  #token = ''
  #pause: ReturnType<typeof setTimeout> | undefined
  #renewal: ReturnType<typeof setTimeout> | undefined
  #endWatch: (() => void) | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  get user(): number | undefined {
    return this.status.state === 'connected' ? this.status.user : undefined
  }

  get isOpen(): boolean {
    return this.status.state === 'connected'
  }

  listen(listener: ConnectionListener): void {
    this.#listeners.add(listener)
  }

  /** Calls `watcher` whenever the status has changed. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /** Keeps the connection open until the function returned is called. */
  hold(): () => void {
    this.#holders++
    if (this.status.state === 'idle') {
      this.#endWatch = watchWaking(() => this.#wake())
      void this.#connect()
    }
    let isHeld = true
    return () => {
      if (isHeld) this.#release()
      isHeld = false
    }
  }

  send(frame: object): void {
    if (this.isOpen) this.#socket?.send(frame)
  }

  /** Closes the connection for good. */
  close(): void {
    this.#finish({ state: 'closed', code: null })
  }

  #release(): void {
    if (--this.#holders === 0 && this.status.state !== 'closed') this.#finish({ state: 'idle' })
  }

  async #connect(): Promise<void> {
    const attempt = ++this.#attempt
    this.#set({ state: 'connecting' })
    try {
      const token = await this.#options.token.get(this.#refused)
      if (attempt === this.#attempt) this.#socket = this.#open(token)
    } catch (error) {
      if (attempt === this.#attempt) this.#lose(1006, toParleyError(error))
    }
  }

  #open(token: string): Socket {
    const WebSocket = this.#options.WebSocket ?? (globalThis.WebSocket as unknown as WebSocketType | undefined)
    if (WebSocket === undefined)
      throw new ParleyError('There is no WebSocket here: pass one.', { code: 'no-websocket' })
    this.#token = token
    const socket = new Socket({
      url: `${this.#options.url.replace(/^http/, 'ws').replace(/\/+$/, '')}/api/realtime`,
      token,
      // A refused upgrade looks like a network failure; after a hello frame the server gives the reason.
      saysHello: this.#failures > 0,
      WebSocket,
      onFrame: frame => this.#onFrame(frame),
      onClose: code => this.#lose(code),
    })
    return socket
  }

  #onFrame(frame: Incoming): void {
    if (frame.type === 'welcome') return this.#start(frame.user_id, frame.expires_in * 1_000)
    for (const listener of this.#listeners) listener.frame?.(frame)
  }

  #start(user: number, leftMs: number): void {
    clearTimeout(this.#renewal)
    const afterMs = Math.max(this.#options.token.expireIn(leftMs), tokenPauseMs)
    if (afterMs < timerLimitMs) this.#renewal = setTimeout(() => void this.#renew(), afterMs)
    // A renewed token is welcomed too; nothing else changes.
    if (this.isOpen) return
    this.#failures = 0
    this.#refused = undefined
    this.#set({ state: 'connected', user })
    for (const listener of this.#listeners) listener.opened?.()
  }

  async #renew(): Promise<void> {
    const socket = this.#socket
    try {
      const token = await this.#options.token.get()
      if (socket === null || socket !== this.#socket || token === this.#token) return
      this.#token = token
      socket.send({ type: 'hello', access_token: token })
    } catch (error) {
      // The server ends the connection with the token; the next connection asks again.
      this.#options.warn(toParleyError(error))
    }
  }

  /** The page was asleep, or the network was away. */
  #wake(): void {
    if (this.status.state === 'waiting') {
      clearTimeout(this.#pause)
      void this.#connect()
      return
    }
    this.#socket?.probe()
    if (this.isOpen) void this.#renew()
  }

  #lose(code: number, cause?: ParleyError): void {
    this.#attempt++
    this.#socket = null
    clearTimeout(this.#renewal)
    const wasRefused = this.#refused !== undefined
    // Until there is another token, whatever else fails meanwhile.
    if (code === codes.unauthorized) this.#refused = this.#token
    const error =
      cause ?? (finalCodes.includes(code) || (code === codes.unauthorized && wasRefused) ? refusal(code) : undefined)
    if (error !== undefined) this.#options.warn(error)
    if (finalCodes.includes(code)) return this.#finish({ state: 'closed', code, ...(error && { error }) })
    const delayMs = toDelayMs(code, this.#failures, Math.random)
    this.#failures++
    this.#pause = setTimeout(() => void this.#connect(), delayMs)
    this.#set({ state: 'waiting', delayMs, ...(error && { error }) })
    for (const listener of this.#listeners) listener.lost?.()
  }

  #finish(status: ConnectionStatus): void {
    if (this.status.state === 'closed') return
    this.#attempt++
    clearTimeout(this.#pause)
    clearTimeout(this.#renewal)
    this.#endWatch?.()
    this.#socket?.close()
    this.#socket = null
    this.#set(status)
    for (const listener of this.#listeners) listener.lost?.()
  }

  #set(status: ConnectionStatus): void {
    this.status = status
    for (const watcher of this.#watchers) watcher()
  }
}

function refusal(code: number): ParleyError {
  const isToken = code === codes.unauthorized
  return new ParleyError(
    `The server refused the connection (${code})${isToken ? ': it takes no token that it was given' : ''}.`,
    {
      status: isToken ? 401 : 403,
      code: isToken ? 'unauthorized' : `closed-${code}`,
    },
  )
}
