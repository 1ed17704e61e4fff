import { LRUCache } from 'lru-cache'
import { overloaded, problem } from '../lib/errors.ts'

export const TooManyAttempts = problem(429, 'too-many-attempts', 'Too many failed attempts. Try again later.')

const windowMs = 60_000

/** Failures within the window after which further attempts are refused. */
const mostFailures = 10

/** Names and addresses that are remembered; those whose last failure is oldest are forgotten first. */
const capacity = 10_000

/** At about 20 ms each, whoever is last in line waits for a little more than a second. */
const mostWaiting = 64

/**
 * Guards what strangers may try without a credential: refuses with 429 after ten failures within a minute under one
 * key (a name, an address). Attempts run one at a time, for two reasons: a failure is counted before the next attempt
 * begins, so that many at once get no further; and checking passwords, which is slow on purpose, never takes more than
 * one core. When too many wait it refuses with 503. What is counted is this node's, and is lost with it.
 */
export class LoginThrottle {
  readonly #now: () => Date
  readonly #failures = new LRUCache<string, number[]>({ max: capacity })
  #last: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(now: () => Date) {
    this.#now = now
  }

  /** The result of `attempt`; null counts as a failure under each of the keys. */
  async run<Result>(keys: string[], attempt: () => Promise<Result | null>): Promise<Result | null> {
    this.#requireRoom(keys)
    if (this.#waiting >= mostWaiting) throw overloaded()
    const turn = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    this.#waiting++
    try {
      await turn
      this.#requireRoom(keys)
      const result = await attempt()
      if (result === null) for (const key of keys) this.#count(key)
      return result
    } finally {
      this.#waiting--
      resolve()
    }
  }

  #requireRoom(keys: string[]): void {
    const now = this.#now().getTime()
    for (const key of keys) {
      const failures = this.#recent(key, now)
      if (failures.length < mostFailures) continue
      throw TooManyAttempts({ retry_after: Math.ceil((failures[0]! + windowMs - now) / 1000) })
    }
  }

  #count(key: string): void {
    const now = this.#now().getTime()
    const failures = [...this.#recent(key, now), now]
    this.#failures.set(key, failures)
  }

  #recent(key: string, now: number): number[] {
    return this.#failures.peek(key)?.filter(at => at > now - windowMs) ?? []
  }
}
