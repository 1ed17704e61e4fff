import { TokenBuckets } from '../../lib/token-buckets.ts'
import { problem } from '../../lib/errors.ts'

export const TooManyRequests = problem(429, 'too-many-requests', 'Too many requests. Try again in a moment.')

/** As many requests of each caller at once as a minute allows, and then at a steady pace. */
export class RateLimit {
  readonly #allowances: TokenBuckets<string>

  /** `now` in milliseconds. */
  constructor(perMinute: number, now: () => number) {
    this.#allowances = new TokenBuckets({ perSecond: perMinute / 60, burst: perMinute, now })
  }

  /** Counts a request. Throws TooManyRequests, with the seconds after which there is room again. */
  take(caller: string): void {
    const waitSeconds = this.#allowances.take(caller)
    if (waitSeconds > 0) throw TooManyRequests({ retry_after: Math.ceil(waitSeconds) })
  }
}
