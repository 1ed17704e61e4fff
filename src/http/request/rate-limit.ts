import { TokenBuckets } from '../../lib/token-buckets.ts'
import { problem } from '../../lib/errors.ts'

export const TooManyRequests = problem(429, 'too-many-requests', 'Too many requests. Try again in a moment.')

/** A rate limit for each caller: a minute's requests as a burst, then a steady pace. */
export class RateLimit<Caller = number | string> {
  readonly #perMinute: number
  readonly #buckets: TokenBuckets<Caller>
  readonly #policy: string

  /** `now` in milliseconds. */
  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute
    this.#buckets = new TokenBuckets({ perSecond: perMinute / 60, burst: perMinute, now })
    this.#policy = `\r\nRateLimit-Policy: "default";q=${perMinute};w=60\r\nRateLimit: "default";r=`
  }

  /** Counts a request. TooManyRequests with the seconds until the next one is allowed. */
  take(caller: Caller): void {
    const waitSeconds = this.#buckets.take(caller)
    if (waitSeconds > 0) throw TooManyRequests({ retry_after: Math.ceil(waitSeconds) })
  }

  /**
   * The headers that tell the caller of the limit (draft-ietf-httpapi-ratelimit-headers), each as `name: value` after a
   * line end: the quota of a minute, the requests that are left of it, and the seconds until all of them are.
   */
  headersFor(caller: Caller): string {
    const left = Math.floor(this.#buckets.leftOf(caller))
    return `${this.#policy}${left};t=${Math.ceil(((this.#perMinute - left) / this.#perMinute) * 60)}`
  }
}
