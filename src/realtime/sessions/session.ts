import type { Principal } from '../../auth/principal.ts'
import type { ClientOrigin } from './client-origins.ts'
import type { Codec, Frame } from '../protocols/protocol.ts'
import type { Subscription } from '../topics/subscription.ts'

/** The part of a socket that a session uses; uWebSockets.js' WebSocket has it. */
export interface Socket {
  send(message: Uint8Array, isBinary: boolean): number
  getBufferedAmount(): number
  subscribe(topic: string): boolean
  unsubscribe(topic: string): boolean
  cork(run: () => void): unknown
  end(code: number, reason: string): void
  close(): void
}

/** `opening`: not authenticated yet. `open`: it belongs to a user. `closed`: its socket is closed or closing. */
export type SessionState =
  | { readonly state: 'opening'; readonly endsAt: number }
  | { readonly state: 'open'; readonly principal: Principal; readonly expiresAt: number }
  | { readonly state: 'closed' }

/** WebSocket close codes (RFC 6455 section 7.4), documented in docs/realtime.md. */
export const closeCodes = {
  /** The client has finished. */
  normal: 1000,
  /** A frame was larger than any may be. */
  tooLarge: 1009,
  /** An internal error; reconnecting helps. */
  failed: 1011,
  restarting: 1012,
  /** The node has no room for another connection. */
  overloaded: 1013,
  malformed: 4400,
  unauthorized: 4401,
  /** Ended by an operator: the client should not reconnect by itself. */
  ended: 4410,
  tooMany: 4429,
} as const

/** The close code for a refusal: 401 becomes 4401. */
export const toCloseCode = (status: number) => 4_000 + status

/** The client's protocol: the native one of docs/realtime.md, or SignalR. */
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

/** Malformed frames before the connection is ended: a client with a bug would not improve. */
const faultLimit = 5

/**
 * What a client may send before it is authenticated: the longest hello, with a token of the host of 8 KiB, and some pings.
 */
export const helloBytes = 12 * 1024

/**
 * One WebSocket connection. Created when the socket opens; ends with the socket, by `close` or by the client. It holds
 * nothing that a client could not resume: if the process dies, clients reconnect and continue by rev. There are many of
 * these, so it has no closures and no timers of its own (see `Sessions`).
 */
export class Session {
  state: SessionState
  /** Its number on this node, from 1; 0 before `Sessions.add`. */
  number = 0
  readonly kind: SessionKind
  /** The client's IP address. */
  readonly ip: string
  /** When its socket opened, in milliseconds since 1970. */
  readonly since: number
  /** App → subscription. */
  readonly subscriptions = new Map<number, Subscription>()
  /** The user that it belongs or belonged to; undefined before it is authenticated. */
  owner: number | undefined
  readonly #socket: Socket
  #clientOrigin: ClientOrigin
  /** The codec of the protocol, without an origin. */
  #plainCodec: Codec
  #codec: Codec
  #faults = 0
  #receivedBeforeHello = 0
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

  /** The origin under which its client reaches this server. */
  get clientOrigin(): ClientOrigin {
    return this.#clientOrigin
  }

  /** Encodes for another origin from now on. */
  useOrigin(address: ClientOrigin): void {
    this.#clientOrigin = address
    this.#codec = address.codec(this.#plainCodec)
  }

  /** Encodes with another codec from now on, for its origin. */
  useCodec(codec: Codec): void {
    this.#plainCodec = codec
    this.#codec = this.#clientOrigin.codec(codec)
  }

  /** The user that it belongs to; undefined before it is authenticated, and once it is closed. */
  get user(): number | undefined {
    return this.state.state === 'open' ? this.owner : undefined
  }

  get isClosed(): boolean {
    return this.state.state === 'closed'
  }

  /** Bytes that the client has not received yet. */
  get bufferedBytes(): number {
    return this.isClosed ? 0 : this.#socket.getBufferedAmount()
  }

  /** Assigns the session to the principal's user; call again when a new token replaces the old one. */
  open(principal: Principal, expiresAt: number): void {
    this.owner = principal.user
    this.state = { state: 'open', principal, expiresAt }
  }

  send(frame: Frame): void {
    if (this.isClosed) return
    const bytes = this.codec.encode(frame)
    if (bytes !== null) this.#socket.send(bytes, this.codec.isBinary)
  }

  /** Sends a frame that was encoded with this session's codec. */
  sendBytes(bytes: Uint8Array): void {
    if (!this.isClosed) this.#socket.send(bytes, this.codec.isBinary)
  }

  /** Sends all frames of `run` in as few packets as possible. */
  cork(run: () => void): void {
    if (!this.isClosed) this.#socket.cork(run)
  }

  /** Subscribes the socket to a topic, so that it receives what is published there. */
  join(topic: string): void {
    if (!this.isClosed) this.#socket.subscribe(topic)
  }

  leave(topic: string): void {
    if (!this.isClosed) this.#socket.unsubscribe(topic)
  }

  /**
   * Counts a frame of the client, or what it does at once as so many; false where that exceeds `perSecond`. Unused
   * allowance adds up to `most`.
   */
  admits(now: number, { perSecond, most }: { perSecond: number; most: number }, count = 1): boolean {
    this.#allowance = Math.min(most, this.#allowance + (Math.max(0, now - this.#countedAt) / 1_000) * perSecond)
    this.#countedAt = now
    if (this.#allowance < count) return false
    this.#allowance -= count
    return true
  }

  /** Counts a frame of a client that is not authenticated; false where it sends too much. */
  allowsBeforeHello(sizeBytes: number): boolean {
    this.#receivedBeforeHello += sizeBytes
    return this.#receivedBeforeHello <= helloBytes
  }

  /** Counts a malformed frame; false after a few. */
  toleratesFault(): boolean {
    return ++this.#faults < faultLimit
  }

  /** Closes the connection with one of `closeCodes`. Earlier frames still arrive. */
  close(code: number, reason: string): void {
    if (this.isClosed) return
    this.state = closed
    this.#socket.end(code, reason)
  }

  /** Terminates the connection at once, and drops its backlog. */
  cut(): void {
    if (this.isClosed) return
    this.state = closed
    this.#socket.close()
  }

  /** Marks the session closed after its socket has closed. */
  onSocketClosed(): void {
    this.state = closed
  }
}
