import { problem } from '../lib/errors.ts'

export const TooManyRequests = problem(429, 'too-many-requests', 'Too many requests. Try again in a moment.')

interface Bucket {
  tokens: number
  filledAt: number
}

/** Buckets kept; a caller whose bucket was dropped starts with a full one. */
const capacity = 100_000

/** A token bucket for each caller: as many requests at once as a minute allows, and then at a steady pace. */
export class RateLimit {
  readonly #perMinute: number
  readonly #now: () => number
  readonly #buckets = new Map<string, Bucket>()

  /** `now` in milliseconds. */
  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute
    this.#now = now
  }

  /** Counts a request. Throws TooManyRequests, with the seconds after which there is room again. */
  take(caller: string): void {
    const now = this.#now()
    const bucket = this.#buckets.get(caller) ?? this.#open(caller, now)
    const perMs = this.#perMinute / 60_000
    bucket.tokens = Math.min(this.#perMinute, bucket.tokens + Math.max(0, now - bucket.filledAt) * perMs)
    bucket.filledAt = now
    if (bucket.tokens < 1) throw TooManyRequests({ retry_after: Math.ceil((1 - bucket.tokens) / perMs / 1000) })
    bucket.tokens--
  }

  #open(caller: string, now: number): Bucket {
    const bucket = { tokens: this.#perMinute, filledAt: now }
    if (this.#buckets.size >= capacity) this.#buckets.delete(this.#buckets.keys().next().value!)
    this.#buckets.set(caller, bucket)
    return bucket
  }
}
