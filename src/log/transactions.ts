import type { Db } from '../postgres/sql.ts'

/** All transactions before `oldest` have ended; transactions that begin from now on have ids from `next` on. */
export async function findTransactions(db: Db): Promise<{ oldest: number; next: number }> {
  const [row] = await db<{ oldest: string; next: string }[]>`
    select pg_snapshot_xmin(now)::text as oldest, pg_snapshot_xmax(now)::text as next from pg_current_snapshot() now`
  return { oldest: Number(row!.oldest), next: Number(row!.next) }
}
