import { TokenBuckets } from '../../lib/token-buckets.ts'
import { problem } from '../../lib/errors.ts'

export const TooManyRequests = problem(429, 'too-many-requests', 'Too many requests. Try again in a moment.')

/** A rate limit for each caller: a minute's requests as a burst, then a steady pace. */
export class RateLimit {
  readonly #buckets: TokenBuckets<string>

  /** `now` in milliseconds. */
  constructor(perMinute: number, now: () => number) {
    this.#buckets = new TokenBuckets({ perSecond: perMinute / 60, burst: perMinute, now })
  }

  /** Counts a request. TooManyRequests with the seconds until the next one is allowed. */
  take(caller: string): void {
    const waitSeconds = this.#buckets.take(caller)
    if (waitSeconds > 0) throw TooManyRequests({ retry_after: Math.ceil(waitSeconds) })
  }
}
