import type { Principal } from '../actors/principal.ts'
import { overloaded } from '../lib/errors.ts'
import { RateLimit } from './rate-limit.ts'

interface ErrandsOptions {
  /** Of one caller. */
  perMinute: number
  /** Of all callers together: each holds a connection and waits for somebody else. */
  atOnce: number
  /** Milliseconds. */
  now: () => number
}

/**
 * Work that goes outside for callers who wait for it: so much a minute for each of them, refused with 429 beyond, and
 * so much at one time for all, refused with 503. What is counted is this node's, and is lost with it.
 */
export class Errands {
  readonly #rate: RateLimit
  readonly #atOnce: number
  #running = 0

  constructor({ perMinute, atOnce, now }: ErrandsOptions) {
    this.#rate = new RateLimit(perMinute, now)
    this.#atOnce = atOnce
  }

  /** API keys have no limit of their own. */
  async run<Result>(by: Principal, work: () => Promise<Result>): Promise<Result> {
    const end = this.begin(by)
    try {
      return await work()
    } finally {
      end()
    }
  }

  /** The same for work that has its end elsewhere: call what it returns then, once. */
  begin(by: Principal): () => void {
    if (by.kind === 'user') this.#rate.take(String(by.user))
    if (this.#running >= this.#atOnce) throw overloaded()
    this.#running++
    return () => this.#running--
  }
}
