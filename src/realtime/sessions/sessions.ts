import type { Presence } from '../../presence/presence.ts'
import type { Principal } from '../../auth/principal.ts'
import { everyWhile, type Clock } from '../../lib/clock.ts'
import type { ClientOrigin, ClientOrigins } from './client-origins.ts'
import { closeCodes, type Session } from './session.ts'

interface SessionsOptions {
  clock: Clock
  /** Gets each start and end of a user's session. */
  presence: Pick<Presence, 'arrive' | 'leave'>
  clientOrigins: ClientOrigins
  /** The most unsent bytes for all slow clients together. */
  totalBacklogBytes: number
}

/** How often sessions are checked for expiry: a session outlives its token by at most a second. */
const sweepMs = 1_000

const none: ReadonlySet<Session> = new Set()

/** The sessions of this node. One timer serves all of them, while there are any, until `close`. */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #all = new Set<Session>()
  readonly #byUser = new Map<number, Set<Session>>()
  readonly #closed = new AbortController()
  #owned = 0
  /** The number of sessions so far. */
  #added = 0
  #ofHub = 0
  readonly #beginSweeps: () => void

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#beginSweeps = everyWhile(options.clock, sweepMs, this.#closed.signal, () => {
      this.#sweep()
      return this.#all.size > 0
    })
  }

  get size(): number {
    return this.#all.size
  }

  /** The number of hub sessions. */
  get ofHub(): number {
    return this.#ofHub
  }

  /** The number of unauthenticated sessions. */
  get unauthenticated(): number {
    return this.#all.size - this.#owned
  }

  [Symbol.iterator](): Iterator<Session> {
    return this.#all.values()
  }

  /** The users with an open session on this node. */
  get users(): ReadonlyMap<number, ReadonlySet<Session>> {
    return this.#byUser
  }

  of(user: number): ReadonlySet<Session> {
    return this.#byUser.get(user) ?? none
  }

  add(session: Session): void {
    session.number = ++this.#added
    if (session.kind === 'hub') this.#ofHub++
    this.#all.add(session)
    this.#beginSweeps()
  }

  /** Assigns the session to the principal's user until `expiresAt`. */
  open(session: Session, principal: Principal, expiresAt: number): void {
    const held = new Set<ClientOrigin>()
    for (const { clientOrigin } of this.of(principal.user)) held.add(clientOrigin)
    session.useOrigin(this.#options.clientOrigins.acquire(session.clientOrigin.origin, held))
    session.open(principal, expiresAt)
    this.#owned++
    this.#options.presence.arrive(principal.user)
    const own = this.#byUser.get(principal.user)
    if (own === undefined) this.#byUser.set(principal.user, new Set([session]))
    else own.add(session)
  }

  remove(session: Session): void {
    if (this.#all.delete(session) && session.kind === 'hub') this.#ofHub--
    if (session.owner === undefined) return
    this.#owned--
    this.#options.presence.leave(session.owner)
    this.#options.clientOrigins.release(session.clientOrigin)
    const own = this.#byUser.get(session.owner)
    own?.delete(session)
    if (own?.size === 0) this.#byUser.delete(session.owner)
  }

  /** Ends the sessions whose credential was revoked. */
  revoke(isRevoked: (principal: Principal) => boolean): void {
    for (const session of this.#all) {
      if (session.state.state === 'open' && isRevoked(session.state.principal)) {
        session.close(closeCodes.unauthorized, 'token revoked')
      }
    }
  }

  /** Ends a session on behalf of an operator; does nothing where it has ended. */
  end(number: number): void {
    for (const session of this.#all) {
      if (session.number === number) session.close(closeCodes.ended, 'ended by the owner')
    }
  }

  /** Ends all sessions with the advice to reconnect, here or to another node. */
  restart(): void {
    for (const session of this.#all) session.close(closeCodes.restarting, 'reconnect')
  }

  close(): void {
    this.#closed.abort()
    this.restart()
  }

  #sweep(): void {
    const now = this.#options.clock.now()
    let buffered = 0
    for (const session of this.#all) {
      const { state } = session
      if (state.state === 'opening' && state.endsAt <= now) session.close(closeCodes.unauthorized, 'hello expected')
      else if (state.state === 'open' && state.expiresAt <= now) session.close(closeCodes.unauthorized, 'token expired')
      buffered += session.bufferedBytes
    }
    if (buffered > this.#options.totalBacklogBytes) this.#cutSlowest(buffered)
  }

  /** Bounds the total: many clients, each within its own limit, could together use up the memory. */
  #cutSlowest(buffered: number): void {
    const slow = [...this.#all].map(session => ({ session, bytes: session.bufferedBytes }))
    slow.sort((a, b) => b.bytes - a.bytes)
    for (const { session, bytes } of slow) {
      if (buffered <= this.#options.totalBacklogBytes) break
      session.cut()
      buffered -= bytes
    }
  }
}
