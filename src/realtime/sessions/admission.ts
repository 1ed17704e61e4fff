import type { Principal } from '../../auth/principal.ts'
import { TokenBuckets } from '../../lib/token-buckets.ts'
import { overloaded, Problem, problem } from '../../lib/errors.ts'
import type { Sessions } from './sessions.ts'
import type { RealtimeSettings } from '../settings.ts'

export const TooManySessions = problem(429, 'too-many-sessions', 'You have too many realtime connections.')
const TokenEnded = problem(401, 'unauthorized', 'The access token is no longer valid.')

type Limits = Pick<
  RealtimeSettings,
  'sessions' | 'unauthenticatedSessions' | 'userSessions' | 'subscriptions' | 'userBytesPerSecond'
>

export interface AdmissionParts {
  /** The principal of an access token, at once where it is known. Refuses with 401 and 403, thrown or rejected. */
  authenticate: (token: string) => Principal | Promise<Principal>
  /** When the principal's credential ends; 0 where it has ended. */
  expiryOf: (principal: Principal) => number
  sessions: Sessions
  /** How many sessions there may be: in all, without authentication, and of one user; and what a user may send. */
  limits: Limits
  now: () => number
}

/** What a frame takes beside its bytes: even the smallest one has to be read and answered. A guess. */
const frameOverheadBytes = 128

/** For each app of each session: to subscribe takes 250, on the hub for each kind of event. A guess. */
const subscriptionBytes = 320

/** A session of the hub takes as much to subscribe to all that 500 apps have. */
const leastSavedBytes = 2 * 1024 * 1024

/** Decides who may have a session, until when, and how much it may send. */
export class Admission {
  readonly #parts: AdmissionParts
  /** Of users, not of sessions: a client whose session is ended may reconnect at once. */
  readonly #bytes: TokenBuckets<number>
  #isClosed = false

  constructor(parts: AdmissionParts) {
    const { userSessions, subscriptions, userBytesPerSecond } = parts.limits
    this.#parts = parts
    this.#bytes = new TokenBuckets({
      perSecond: userBytesPerSecond,
      burst: Math.max(leastSavedBytes, userSessions * subscriptions * subscriptionBytes),
      now: parts.now,
    })
  }

  /** Refuses with 503 where there is no room for one more connection, or for one that does not say whose it is. */
  requireCapacity(isUnauthenticated: boolean): void {
    const { sessions, limits } = this.#parts
    const isFull = this.#isClosed || sessions.size >= limits.sessions
    if (isFull || (isUnauthenticated && sessions.unauthenticated >= limits.unauthenticatedSessions)) throw overloaded(5)
  }

  /** Admits no session from now on. */
  close(): void {
    this.#isClosed = true
  }

  /** Throws 401 for what is no token at all; rejects with what speaks against the others. */
  authenticate(token: string): Principal | Promise<Principal> {
    try {
      return this.#parts.authenticate(token)
    } catch (error) {
      // Answered when the connection is open, as for a key that has to be looked up: pages see no more than its end.
      if (error instanceof Problem && error.status === 403) return Promise.reject(error)
      throw error
    }
  }

  /**
   * The instant at which a new session of the principal must end. Call it in the tick in which the session is opened:
   * a token may have been revoked since it was looked at. Refuses with 401, and with 429 above the user's limit.
   */
  admit(principal: Principal): number {
    this.requireShare(principal, 0)
    return this.renew(principal)
  }

  /** Refuses with 429 above the user's limit; `coming`: sessions of theirs that are about to be opened. */
  requireShare({ user }: Principal, coming: number): void {
    const { sessions, limits } = this.#parts
    if (sessions.of(user).size + coming >= limits.userSessions) throw TooManySessions()
  }

  /** The instant at which a session must end that goes on with a new token. Refuses with 401. */
  renew(principal: Principal): number {
    const expiresAt = this.#parts.expiryOf(principal)
    if (expiresAt <= this.#parts.now()) throw TokenEnded()
    return expiresAt
  }

  /** Counts a frame of a user; false where all of their sessions together send more than their share. */
  allowsBytes(user: number, sizeBytes: number): boolean {
    return this.#bytes.take(user, frameOverheadBytes + sizeBytes) === 0
  }
}
