import type { Sql, Tx } from '../../src/postgres/sql.ts'

/** How many rows of a table PostgreSQL looks at while `run` asks its questions, however many it then returns. */
export function rowsRead(sql: Sql, table: string, run: (tx: Tx) => Promise<unknown>): Promise<number> {
  return sql.begin(async tx => {
    // Counts of earlier transactions may still be among those of this one.
    const before = await countReads(tx, table)
    await run(tx)
    return (await countReads(tx, table)) - before
  })
}

async function countReads(tx: Tx, table: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select seq_tup_read + coalesce(idx_tup_fetch, 0) as count from pg_stat_xact_user_tables where relname = ${table}`
  return row!.count
}
