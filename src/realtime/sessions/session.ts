import type { Principal } from '../../auth/principal.ts'
import type { ClientOrigin } from './client-origins.ts'
import type { Codec, Frame } from '../protocols/protocol.ts'
import type { Subscription } from '../topics/subscription.ts'

/** What a session needs of its socket; uWebSockets.js' WebSocket as it is. */
export interface Socket {
  send(message: Uint8Array, isBinary: boolean): number
  getBufferedAmount(): number
  subscribe(topic: string): boolean
  unsubscribe(topic: string): boolean
  cork(run: () => void): unknown
  end(code: number, reason: string): void
  close(): void
}

/** `opening`: not authenticated yet. `open`: it belongs to a user. `closed`: its socket is gone or going. */
export type SessionState =
  | { readonly state: 'opening'; readonly endsAt: number }
  | { readonly state: 'open'; readonly principal: Principal; readonly expiresAt: number }
  | { readonly state: 'closed' }

/** Why connections are closed; documented in docs/realtime.md. */
export const closeCodes = {
  /** The client said that it is done. */
  normal: 1000,
  /** Something went wrong here; reconnecting helps. */
  failed: 1011,
  restarting: 1012,
  malformed: 4400,
  unauthorized: 4401,
  /** An owner has ended it: the client is not to come back by itself. */
  ended: 4410,
  tooMany: 4429,
} as const

/** The close code for a refusal: 401 is 4401. */
export const toCloseCode = (status: number) => 4_000 + status

/** What a client speaks: the protocols of docs/realtime.md, or SignalR. */
export type SessionKind = 'native' | 'hub'

/** What is known of a connection when its socket opens. */
interface SessionStart {
  codec: Codec
  clientOrigin: ClientOrigin
  kind?: SessionKind
  ip?: string
  since?: number
}

const closed: SessionState = { state: 'closed' }

/** Frames that cannot be understood before the connection is ended: a client with a bug would not get better. */
const faultLimit = 5

/** What a client may send before it is authenticated: the longest hello, with every character escaped, and some pings. */
const introductionBytes = 4 * 1024

/**
 * One connection. Made when the socket opens; ends with its socket, by `close` or because the client went away. It
 * holds nothing that a client could not resume: when the process dies, clients reconnect and go on by rev. There are
 * many of these, so it has no closures and no timers of its own (see `Sessions`).
 */
export class Session {
  state: SessionState
  /** Its number on this node, from 1; 0 before `Sessions.add`. */
  number = 0
  readonly kind: SessionKind
  /** The client's IP address. */
  readonly ip: string
  /** When its socket opened, in milliseconds. */
  readonly since: number
  /** By app. */
  readonly subscriptions = new Map<number, Subscription>()
  /** The user that it belongs to or belonged to; undefined before it was authenticated. */
  owner: number | undefined
  readonly #socket: Socket
  #clientOrigin: ClientOrigin
  /** As the protocol declares it, without the links of an origin. */
  #plainCodec: Codec
  #codec: Codec
  #faults = 0
  #introducedBytes = 0
  #allowance = 0
  #countedAt = Number.NEGATIVE_INFINITY

  constructor(
    wire: Socket,
    { codec, clientOrigin, kind = 'native', ip = '', since = 0 }: SessionStart,
    helloUntil: number,
  ) {
    this.#socket = wire
    this.kind = kind
    this.ip = ip
    this.since = since
    this.#clientOrigin = clientOrigin
    this.#plainCodec = codec
    this.#codec = clientOrigin.codec(codec)
    this.state = { state: 'opening', endsAt: helloUntil }
  }

  get codec(): Codec {
    return this.#codec
  }

  /** Where its client came in. */
  get clientOrigin(): ClientOrigin {
    return this.#clientOrigin
  }

  /** Encodes for another origin from now on, which it shares with other sessions. */
  useOrigin(address: ClientOrigin): void {
    this.#clientOrigin = address
    this.#codec = address.codec(this.#plainCodec)
  }

  /** Encodes with another codec from now on, for its origin. */
  useCodec(codec: Codec): void {
    this.#plainCodec = codec
    this.#codec = this.#clientOrigin.codec(codec)
  }

  /** The user that it belongs to; undefined before it is authenticated, and when it is closed. */
  get user(): number | undefined {
    return this.state.state === 'open' ? this.owner : undefined
  }

  get isClosed(): boolean {
    return this.state.state === 'closed'
  }

  /** What the client has not taken yet. */
  get bufferedBytes(): number {
    return this.isClosed ? 0 : this.#socket.getBufferedAmount()
  }

  /** It belongs to the principal's user from now on; call again when a new token takes the place of the old one. */
  open(principal: Principal, expiresAt: number): void {
    this.owner = principal.user
    this.state = { state: 'open', principal, expiresAt }
  }

  send(frame: Frame): void {
    if (this.isClosed) return
    const bytes = this.codec.encode(frame)
    if (bytes !== null) this.#socket.send(bytes, this.codec.isBinary)
  }

  /** Sends what was encoded in this session's form before. */
  sendBytes(bytes: Uint8Array): void {
    if (!this.isClosed) this.#socket.send(bytes, this.codec.isBinary)
  }

  /** Everything that `run` sends goes out in as few packets as possible. */
  cork(run: () => void): void {
    if (!this.isClosed) this.#socket.cork(run)
  }

  /** From now on the client gets what is published under the topic. */
  join(topic: string): void {
    if (!this.isClosed) this.#socket.subscribe(topic)
  }

  leave(topic: string): void {
    if (!this.isClosed) this.#socket.unsubscribe(topic)
  }

  /** Counts a frame of the client; false when it sends more than its share. Unused allowance adds up to `most`. */
  admits(now: number, perSecond: number, most: number): boolean {
    this.#allowance = Math.min(most, this.#allowance + (Math.max(0, now - this.#countedAt) / 1_000) * perSecond)
    this.#countedAt = now
    if (this.#allowance < 1) return false
    this.#allowance--
    return true
  }

  /** Counts a frame of a client that is not authenticated yet; false when it sends too much. */
  allowsBeforeHello(sizeBytes: number): boolean {
    this.#introducedBytes += sizeBytes
    return this.#introducedBytes <= introductionBytes
  }

  /** Counts a frame that could not be parsed; false after a few. */
  toleratesFault(): boolean {
    return ++this.#faults < faultLimit
  }

  /** Ends the connection with a code that the client can act on. What was sent before still arrives. */
  close(code: number, reason: string): void {
    if (this.isClosed) return
    this.state = closed
    this.#socket.end(code, reason)
  }

  /** Ends the connection at once, with all that waits for it. */
  cut(): void {
    if (this.isClosed) return
    this.state = closed
    this.#socket.close()
  }

  /** The socket is gone. */
  onSocketClosed(): void {
    this.state = closed
  }
}
