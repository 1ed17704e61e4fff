import type { Sql } from '../postgres/sql.ts'

/** What was found of what any node has committed. */
export interface CommitLook {
  /**
   * Which transactions are over, of all that wrote something. Equal snapshots of one server see the same rows: numbers of
   * transactions are only given to those that write. A standby that took over, or a server that was put back, may give some
   * of them once more, so the start of the server is part of it.
   */
  snapshot: string
  /** Whether each of the conditions holds. */
  holds: boolean[]
}

/** Looks at what was committed, by any node, and which of some conditions in SQL hold now: one statement for all. */
export async function lookAtCommits(sql: Sql, conditions: readonly string[]): Promise<CommitLook> {
  const [row] = await sql<CommitLook[]>`
    select concat_ws(' ', pg_postmaster_start_time(), pg_current_snapshot()) as snapshot,
      json_build_array(${sql.unsafe(conditions.map(condition => `(${condition})`).join(', '))}) as holds`
  return row!
}
