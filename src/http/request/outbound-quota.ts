import type { Principal } from '../../auth/principal.ts'
import { overloaded } from '../../lib/errors.ts'
import { RateLimit } from './rate-limit.ts'

interface OutboundQuotaOptions {
  /** The limit of one caller. */
  perMinute: number
  /** The limit of all callers together: each request holds a connection and waits for another server. */
  atOnce: number
  /** Milliseconds. */
  now: () => number
}

/**
 * Limits requests to other servers that a caller waits for: per minute for each caller (429 beyond), and concurrently
 * for all callers (503 beyond). Counts are per node, and lost with the process.
 */
export class OutboundQuota {
  readonly #rate: RateLimit
  readonly #atOnce: number
  #running = 0

  constructor({ perMinute, atOnce, now }: OutboundQuotaOptions) {
    this.#rate = new RateLimit(perMinute, now)
    this.#atOnce = atOnce
  }

  /** Runs `work` within the limits. API keys have no limit of their own. */
  async run<Result>(by: Principal, work: () => Promise<Result>): Promise<Result> {
    const end = this.begin(by)
    try {
      return await work()
    } finally {
      end()
    }
  }

  /** Counts work that ends elsewhere; call the returned function once, at its end. Refuses as `run` does. */
  begin(by: Principal): () => void {
    if (by.kind === 'user') this.#rate.take(by.user)
    if (this.#running >= this.#atOnce) throw overloaded()
    this.#running++
    return () => this.#running--
  }
}
