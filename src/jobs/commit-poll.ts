import type { Chore } from './housekeeping.ts'
import type { Sql } from '../postgres/sql.ts'

/** Looks for what others have committed. False, or a rejection: it has to look again, whether or not anything new comes. */
export type Look = () => Promise<boolean | void>

/** Half a period of those who ask: looks that are close together ask once, and none is late by more than this. */
const usualValidMs = 500

/**
 * Tells whether anything was committed, by any node: where a snapshot is the same as before, no transaction that wrote
 * something has ended since. One statement for all who ask within half a second.
 */
export class CommitWatch {
  readonly #sql: Sql
  readonly #validMs: number
  #last: Promise<string> | null = null
  #askedAtMs = 0

  constructor(sql: Sql, validMs = usualValidMs) {
    this.#sql = sql
    this.#validMs = validMs
  }

  /** How things stood at most half a second ago. */
  snapshot(): Promise<string> {
    const nowMs = performance.now()
    if (this.#last === null || nowMs - this.#askedAtMs > this.#validMs) {
      this.#askedAtMs = nowMs
      this.#last = findSnapshot(this.#sql)
      this.#last.catch(() => (this.#last = null))
    }
    return this.#last
  }
}

/**
 * Lets some look for what was committed, by any node, about once a second. Where no transaction that wrote something has
 * ended since they all looked in full, there is nothing to be found, and none of them asks: a server with nothing to do
 * costs one or two statements a second. Not for what becomes due by time alone.
 *
 * If the process dies nothing is lost: the next one begins with a look.
 */
export function commitPoll(commits: CommitWatch, looks: readonly Look[]): Chore {
  let seen: string | null = null
  return {
    name: 'look for what other nodes committed',
    periodMs: 1_000,
    async run() {
      // Before the looks: what is committed while they look changes the next one.
      const snapshot = await commits.snapshot()
      if (snapshot === seen) return
      const outcomes = await Promise.allSettled(looks.map(look => look()))
      const failure = outcomes.find(outcome => outcome.status === 'rejected')
      if (failure !== undefined) throw failure.reason
      if (!outcomes.some(outcome => outcome.status === 'fulfilled' && outcome.value === false)) seen = snapshot
    },
  }
}

/**
 * Which transactions are over, of all that wrote something. Equal snapshots of one server see the same rows: numbers of
 * transactions are only given to those that write. A standby that took over, or a server that was put back, may give some
 * of them once more, so the start of the server is part of it.
 */
async function findSnapshot(sql: Sql): Promise<string> {
  const [row] = await sql<{ snapshot: string }[]>`
    select concat_ws(' ', pg_postmaster_start_time(), pg_current_snapshot()) as snapshot`
  return row!.snapshot
}
