interface Bucket {
  left: number
  countedAt: number
}

interface TokenBucketsOptions {
  perSecond: number
  /** The size of a bucket. */
  burst: number
  /** The most that a caller may owe after `charge`. Default: 0. */
  debt?: number
  /** Milliseconds. */
  now: () => number
}

/** The most buckets kept; a caller whose bucket was evicted starts with a full one. */
const capacity = 100_000

/** A token bucket for each caller: `burst` tokens, refilled `perSecond`. In memory; lost with the process. */
export class TokenBuckets<Caller> {
  readonly #options: TokenBucketsOptions
  readonly #kept = new Map<Caller, Bucket>()

  constructor(options: TokenBucketsOptions) {
    this.#options = options
  }

  /**
   * Takes the amount and returns 0; where the bucket holds less, takes nothing and returns the seconds until it holds
   * enough.
   */
  take(caller: Caller, amount = 1): number {
    const { perSecond } = this.#options
    const bucket = this.#fill(caller)
    if (bucket.left < amount) return (amount - bucket.left) / perSecond
    bucket.left -= amount
    return 0
  }

  /** Takes an amount that has been spent already: the caller owes what the bucket does not hold, up to the limit. */
  charge(caller: Caller, amount: number): void {
    const { debt = 0 } = this.#options
    const bucket = this.#fill(caller)
    bucket.left = Math.max(bucket.left - amount, -debt)
  }

  /** The amount that was left after the last `take`. */
  leftOf(caller: Caller): number {
    return this.#kept.get(caller)?.left ?? this.#options.burst
  }

  #fill(caller: Caller): Bucket {
    const { perSecond, burst, now } = this.#options
    const at = now()
    const bucket = this.#kept.get(caller) ?? this.#open(caller, at)
    const gained = (Math.max(0, at - bucket.countedAt) / 1000) * perSecond
    bucket.left = Math.min(burst, bucket.left + gained)
    bucket.countedAt = at
    return bucket
  }

  #open(caller: Caller, at: number): Bucket {
    const bucket = { left: this.#options.burst, countedAt: at }
    if (this.#kept.size >= capacity) this.#kept.delete(this.#kept.keys().next().value!)
    this.#kept.set(caller, bucket)
    return bucket
  }
}
