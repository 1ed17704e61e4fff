import type { Principal } from '../actors/principal.ts'
import type { Address } from './addresses.ts'
import type { Form, Frame } from './protocol.ts'
import type { Subscription } from './channels/subscription.ts'

/** What a session needs of its socket; uWebSockets.js' WebSocket as it is. */
export interface Wire {
  send(message: Uint8Array, isBinary: boolean): number
  getBufferedAmount(): number
  subscribe(topic: string): boolean
  unsubscribe(topic: string): boolean
  cork(run: () => void): unknown
  end(code: number, reason: string): void
  close(): void
}

/** `opening`: nobody knows who it is yet. `open`: it belongs to a user. `closed`: its socket is gone or going. */
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
  form: Form
  address: Address
  kind?: SessionKind
  ip?: string
  since?: number
}

const closed: SessionState = { state: 'closed' }

/** Frames that cannot be understood before the connection is ended: a client with a bug would not get better. */
const faultLimit = 5

/** What may be said before it is known by whom: the longest hello, with every character escaped, and some pings. */
const introductionBytes = 4 * 1024

/**
 * One connection. Made when the socket opens; ends with its socket, by `close` or because the client went away. It
 * holds nothing that a client could not resume: when the process dies, clients reconnect and go on by rev. There are
 * many of these, so it has no closures and no timers of its own (see `Sessions`).
 */
export class Session {
  state: SessionState
  /** Tells it from the others of this node; 0 before it is among them. */
  number = 0
  readonly kind: SessionKind
  /** The client's IP address. */
  readonly ip: string
  /** When its socket opened, in milliseconds. */
  readonly since: number
  /** By app. */
  readonly subscriptions = new Map<number, Subscription>()
  /** Whose session it is or was; undefined before anybody said so. */
  owner: number | undefined
  readonly #wire: Wire
  #address: Address
  /** The same for every address. */
  #plain: Form
  #form: Form
  #faults = 0
  #introducedBytes = 0
  #allowance = 0
  #countedAt = Number.NEGATIVE_INFINITY

  constructor(wire: Wire, { form, address, kind = 'native', ip = '', since = 0 }: SessionStart, helloUntil: number) {
    this.#wire = wire
    this.kind = kind
    this.ip = ip
    this.since = since
    this.#address = address
    this.#plain = form
    this.#form = address.form(form)
    this.state = { state: 'opening', endsAt: helloUntil }
  }

  get form(): Form {
    return this.#form
  }

  /** Where its client came in. */
  get address(): Address {
    return this.#address
  }

  /** From now on it is written to for another address, which it shares with others. */
  settle(address: Address): void {
    this.#address = address
    this.#form = address.form(this.#plain)
  }

  /** From now on it is written to in another form, for the same address. */
  speak(form: Form): void {
    this.#plain = form
    this.#form = this.#address.form(form)
  }

  /** The user that it belongs to; undefined while nobody knows, and when it is closed. */
  get user(): number | undefined {
    return this.state.state === 'open' ? this.owner : undefined
  }

  get isClosed(): boolean {
    return this.state.state === 'closed'
  }

  /** What the client has not taken yet. */
  get bufferedBytes(): number {
    return this.isClosed ? 0 : this.#wire.getBufferedAmount()
  }

  /** It belongs to the principal's user from now on; call again when a new token takes the place of the old one. */
  open(principal: Principal, expiresAt: number): void {
    this.owner = principal.user
    this.state = { state: 'open', principal, expiresAt }
  }

  send(frame: Frame): void {
    if (this.isClosed) return
    const bytes = this.form.encode(frame)
    if (bytes !== null) this.#wire.send(bytes, this.form.isBinary)
  }

  /** Sends what was encoded in this session's form before. */
  sendBytes(bytes: Uint8Array): void {
    if (!this.isClosed) this.#wire.send(bytes, this.form.isBinary)
  }

  /** Everything that `run` sends goes out in as few packets as possible. */
  together(run: () => void): void {
    if (!this.isClosed) this.#wire.cork(run)
  }

  /** From now on the client gets what is published under the topic. */
  join(topic: string): void {
    if (!this.isClosed) this.#wire.subscribe(topic)
  }

  leave(topic: string): void {
    if (!this.isClosed) this.#wire.unsubscribe(topic)
  }

  /** Counts a frame of the client; false when it sends more than its share. Unused allowance adds up to `most`. */
  admits(now: number, perSecond: number, most: number): boolean {
    this.#allowance = Math.min(most, this.#allowance + (Math.max(0, now - this.#countedAt) / 1_000) * perSecond)
    this.#countedAt = now
    if (this.#allowance < 1) return false
    this.#allowance--
    return true
  }

  /** Counts a frame of a client of whom nobody knows who it is; false when it says too much. */
  introduces(sizeBytes: number): boolean {
    this.#introducedBytes += sizeBytes
    return this.#introducedBytes <= introductionBytes
  }

  /** Counts a frame that could not be understood; false after a few. */
  forgives(): boolean {
    return ++this.#faults < faultLimit
  }

  /** Ends the connection with a code that the client can act on. What was sent before still arrives. */
  close(code: number, reason: string): void {
    if (this.isClosed) return
    this.state = closed
    this.#wire.end(code, reason)
  }

  /** Ends the connection at once, with all that waits for it. */
  cut(): void {
    if (this.isClosed) return
    this.state = closed
    this.#wire.close()
  }

  /** The socket is gone. */
  lost(): void {
    this.state = closed
  }
}
