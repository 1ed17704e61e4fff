import { LRUCache } from 'lru-cache'
import PQueue from 'p-queue'
import { overloaded, problem } from '../lib/errors.ts'

export const TooManyAttempts = problem(429, 'too-many-attempts', 'Too many failed attempts. Try again later.')

const windowMs = 60_000

/** Failures within the window after which further attempts are refused. */
const failureLimit = 10

/** Names and addresses that are tracked; the one whose last failure is oldest is evicted first. */
const capacity = 10_000

/** The most attempts that may wait. At about 20 ms each, the last one waits for little more than a second. */
const waitingLimit = 64

/**
 * Limits attempts to sign in: 429 after ten failures within a minute under one key (a name, an address), 503 where too
 * many attempts wait. Attempts run one at a time, so that a failure is counted before the next attempt begins, and
 * checking passwords, which is slow on purpose, never takes more than one core. Counts are per node, and lost with the
 * process.
 */
export class LoginThrottle {
  readonly #now: () => Date
  readonly #failures = new LRUCache<string, number[]>({ max: capacity })
  readonly #queue = new PQueue({ concurrency: 1 })

  constructor(now: () => Date) {
    this.#now = now
  }

  /** Runs `attempt` in turn and returns its result; null counts as a failure under each of `keys`. */
  async run<Result>(keys: string[], attempt: () => Promise<Result | null>): Promise<Result | null> {
    this.requireRoom(keys)
    if (this.#queue.size + this.#queue.pending >= waitingLimit) throw overloaded()
    return this.#queue.add(async () => {
      this.requireRoom(keys)
      const result = await attempt()
      if (result === null) this.count(keys)
      return result
    })
  }

  /** 429 where an attempt under one of `keys` is to be refused. For attempts that are not run here; see `count`. */
  requireRoom(keys: string[]): void {
    const now = this.#now().getTime()
    for (const key of keys) {
      const failures = this.#recent(key, now)
      if (failures.length < failureLimit) continue
      throw TooManyAttempts({ retry_after: Math.ceil((failures[0]! + windowMs - now) / 1000) })
    }
  }

  /** Counts a failure under each of `keys`. */
  count(keys: string[]): void {
    const now = this.#now().getTime()
    for (const key of keys) this.#failures.set(key, [...this.#recent(key, now), now])
  }

  #recent(key: string, now: number): number[] {
    return this.#failures.peek(key)?.filter(at => at > now - windowMs) ?? []
  }
}
