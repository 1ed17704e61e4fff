import type { Sql } from '../postgres/sql.ts'

/** What was found of what any node has committed. */
export interface CommitLook {
  /**
   * Which transactions are over, of all that wrote something. Equal snapshots of one server see the same rows: numbers of
   * transactions are only given to those that write. A standby that took over, or a server that was put back, may give some
   * of them once more, so the start of the server is part of it.
   */
  snapshot: string
  /** When the server was started: numbers of what it holds can come back after that. */
  server: string
  /** What each of the queries and conditions comes to. */
  values: unknown[]
  /** There are other nodes, one was killed lately, or this one is not registered. */
  hasOthers: boolean
}

/** Looks at what was committed, by any node, and what some conditions in SQL come to now: one statement for all. */
export async function lookAtCommits(
  sql: Sql,
  { node, asked }: { node: string; asked: readonly string[] },
): Promise<CommitLook> {
  const [row] = await sql<CommitLook[]>`
    select pg_postmaster_start_time()::text as server,
      concat_ws(' ', pg_postmaster_start_time(), pg_current_snapshot()) as snapshot,
      json_build_array(${sql.unsafe(asked.map(one => `(${one})`).join(', '))}) as values,
      (select coalesce(bool_or(id <> ${node}), true) from nodes) as "hasOthers"`
  return row!
}
