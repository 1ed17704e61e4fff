import type { Chore } from './housekeeping.ts'
import type { Sql } from './sql.ts'

/** Looks for what others have committed. False, or a rejection: it has to look again, whether or not anything new comes. */
export type Look = () => Promise<boolean | void>

/**
 * Lets some look for what was committed, by any node, about once a second. Where no transaction that wrote something has
 * ended since they all looked in full, there is nothing to be found, and none of them asks: a server with nothing to do
 * costs one statement a second. Not for what becomes due by time alone.
 *
 * If the process dies nothing is lost: the next one begins with a look.
 */
export function commitPoll(sql: Sql, looks: readonly Look[]): Chore {
  let seen: string | null = null
  return {
    name: 'look for what other nodes committed',
    periodMs: 1_000,
    async run() {
      // Before the looks: what is committed while they look changes the next one.
      const snapshot = await findSnapshot(sql)
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
