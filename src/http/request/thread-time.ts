import { TokenBuckets } from '../../lib/token-buckets.ts'
import type { Caller } from './turns.ts'

/**
 * The time of the event loop that the requests of one user may take while others ask: as much at once, in milliseconds,
 * and so much a second. Ordinary requests take 0.1 to 0.3 ms, ten times as much right after a start. A longer share would
 * show in the waits of others: what is in their way for a twentieth of the time is seen by one in twenty.
 */
const share = { atOnceMs: 250, perSecondMs: 40 }

/** The most that a user can owe, so that a rest is over after five seconds. A guess. */
const debtMs = 200

/** A user who has more than this left of the share asks little. A guess. */
const littleLeftMs = 125

/** For so long after a request of one who asks little, the time is shared. A guess. */
const sharedMs = 500

/**
 * Shares the time of the event loop between users: who has used up a share rests while another user asks who has used
 * little. So a user who is alone never rests, nor does one among users who all use as much. API keys never rest: they act
 * for many users.
 */
export class ThreadTime {
  readonly #left: TokenBuckets<number>
  readonly #now: () => number
  /** The two callers who asked last of those who ask little, and when. */
  #last = { caller: null as Caller | null, at: Number.NEGATIVE_INFINITY }
  #other = this.#last

  /** `now` in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#left = new TokenBuckets({ perSecond: share.perSecondMs, burst: share.atOnceMs, debt: debtMs, now })
  }

  /** Takes note of a request, before it begins or waits. */
  asks(caller: Caller): void {
    if (this.#leftOf(caller) < littleLeftMs) return
    if (this.#last.caller !== caller) this.#other = this.#last
    this.#last = { caller, at: this.#now() }
  }

  /** Runs a piece of work of a caller, and counts its time. */
  measure<Result>(caller: Caller | null, work: () => Result): Result {
    if (typeof caller !== 'number') return work()
    const startedAt = this.#now()
    try {
      return work()
    } finally {
      this.#left.charge(caller, this.#now() - startedAt)
    }
  }

  /** True where a caller has used up the share, and another one asks who has not. */
  isResting(caller: Caller): boolean {
    if (this.#leftOf(caller) >= 0) return false
    const { at } = this.#last.caller === caller ? this.#other : this.#last
    return this.#now() - at < sharedMs
  }

  #leftOf(caller: Caller): number {
    if (typeof caller !== 'number') return Number.POSITIVE_INFINITY
    this.#left.take(caller, 0)
    return this.#left.leftOf(caller)
  }
}
