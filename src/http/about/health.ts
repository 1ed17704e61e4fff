import { withTimeout, type Clock } from '../../lib/clock.ts'
import type { Sql } from '../../postgres/sql.ts'

/** How long PostgreSQL may take to answer, and for how long the result is cached. */
const deadlineMs = 2000
const validMs = 1000

/** `draining`: this node still serves, but will end. `away`: it cannot reach PostgreSQL. */
export type Condition = 'ok' | 'draining' | 'away'

/** Tells whether this node can serve. PostgreSQL is asked at most once a second, however often it is called. */
export class Health {
  readonly #sql: Sql
  readonly #clock: Clock
  readonly #isEnding: () => boolean
  #last: Promise<boolean> = Promise.resolve(false)
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(sql: Sql, clock: Clock, isEnding: () => boolean) {
    this.#sql = sql
    this.#clock = clock
    this.#isEnding = isEnding
  }

  /** Never rejects. */
  async check(): Promise<Condition> {
    if (this.#isEnding()) return 'draining'
    return (await this.#reachesDatabase()) ? 'ok' : 'away'
  }

  #reachesDatabase(): Promise<boolean> {
    const now = this.#clock.now()
    // In both directions: the clock may have been set back.
    if (Math.abs(now - this.#askedAt) < validMs) return this.#last
    this.#askedAt = now
    this.#last = this.#ask()
    return this.#last
  }

  async #ask(): Promise<boolean> {
    const sql = this.#sql
    const asked = sql`select 1`.then(
      () => true,
      // Whatever the reason, there is no database to serve from.
      () => false,
    )
    return withTimeout(asked, { clock: this.#clock, timeoutMs: deadlineMs, onTimeout: () => false })
  }
}
