import type { Credentials } from '../../auth/credentials.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Clock } from '../../lib/clock.ts'
import { TokenBuckets } from '../../lib/token-buckets.ts'
import { overloaded, Problem, problem } from '../../lib/errors.ts'
import type { Sessions } from './sessions.ts'
import type { RealtimeSettings } from '../settings.ts'

export const TooManySessions = problem(429, 'too-many-sessions', 'You have too many realtime connections.')
const TokenEnded = problem(401, 'unauthorized', 'The access token is no longer valid.')

export interface AdmissionParts {
  /**
   * The principal of an access token, synchronously where it is known. 401 and 403, thrown or as a rejection. `address` is
   * the client's.
   */
  authenticate: (token: string, address: string) => Principal | Promise<Principal>
  credentials: Pick<Credentials, 'expiryOf'>
  sessions: Sessions
  settings: RealtimeSettings
  clock: Clock
}

/** The cost of a frame beside its bytes: even an empty one has to be read and answered. A guess. */
const frameOverheadBytes = 128

/** Bytes per app and session: a subscription takes 250, on the hub one for each kind of event. A guess. */
const subscriptionBytes = 320

/** A hub session needs as much to subscribe to all events of 500 apps. */
const leastBurstBytes = 2 * 1024 * 1024

/** Decides who may have a session, until when, and how much it may send. */
export class Admission {
  readonly #parts: AdmissionParts
  /** Per user, not per session: a client whose session is ended can reconnect at once. */
  readonly #bytes: TokenBuckets<number>
  #isClosed = false

  constructor(parts: AdmissionParts) {
    const { userSessions, subscriptions, userBytesPerSecond } = parts.settings
    this.#parts = parts
    this.#bytes = new TokenBuckets({
      perSecond: userBytesPerSecond,
      burst: Math.max(leastBurstBytes, userSessions * subscriptions * subscriptionBytes),
      now: () => parts.clock.now(),
    })
  }

  /** 503 where there is no room for another connection, or for another unauthenticated one. */
  requireCapacity(isUnauthenticated: boolean): void {
    const { sessions, settings } = this.#parts
    const isFull = this.#isClosed || sessions.size >= settings.sessions
    if (isFull || (isUnauthenticated && sessions.unauthenticated >= settings.unauthenticatedSessions))
      throw overloaded(5)
  }

  /** Admits no further session. */
  close(): void {
    this.#isClosed = true
  }

  /** The principal of a token. Throws 401 for a malformed token; rejects with other refusals. */
  authenticate(token: string, address: string): Principal | Promise<Principal> {
    try {
      return this.#parts.authenticate(token, address)
    } catch (error) {
      // Reported after the connection is open, as for an API key that has to be looked up: to a browser, a refused
      // upgrade has no reason.
      if (error instanceof Problem && error.status === 403) return Promise.reject(error)
      throw error
    }
  }

  /**
   * Authenticates on a connection that is open: calls `accept` with the principal, within this call where the token is
   * known, or `refuse` with the reason, also where `accept` throws it.
   */
  settle(
    token: string,
    address: string,
    accept: (principal: Principal) => void,
    refuse: (reason: unknown) => void,
  ): void {
    try {
      const principal = this.authenticate(token, address)
      if (principal instanceof Promise) principal.then(accept).catch(refuse)
      else accept(principal)
    } catch (error) {
      refuse(error)
    }
  }

  /**
   * The time, in milliseconds since 1970, when a new session of the principal must end. Call it in the tick in which
   * the session opens: the token may have been revoked since it was looked up. 401, or 429 above the user's limit.
   */
  admit(principal: Principal): number {
    this.requireUserCapacity(principal, 0)
    return this.renew(principal)
  }

  /** 429 above the user's limit; `coming`: the user's sessions that are about to open. */
  requireUserCapacity({ user }: Principal, coming: number): void {
    const { sessions, settings } = this.#parts
    if (sessions.of(user).size + coming >= settings.userSessions) throw TooManySessions()
  }

  /** The time when a session must end that continues with a new token. 401 where the token has expired. */
  renew(principal: Principal): number {
    const { credentials, clock } = this.#parts
    const expiresAt = credentials.expiryOf(principal)
    if (expiresAt <= clock.now()) throw TokenEnded()
    return expiresAt
  }

  /** Counts a frame of a user; false where the user's sessions together exceed their share. */
  allowsBytes(user: number, sizeBytes: number): boolean {
    return this.#bytes.take(user, frameOverheadBytes + sizeBytes) === 0
  }
}
