import type { Sql, Tx } from '../../src/postgres/sql.ts'

/** How many rows of a table PostgreSQL looks at while `run` asks its questions, however many it then returns. */
export function rowsRead(sql: Sql, table: string, run: Asked): Promise<number> {
  return countedBy(sql, tx => countRows(tx, table), run)
}

/** How many pages of 8 KiB PostgreSQL looks at meanwhile, of tables and indexes. */
export function pagesRead(sql: Sql, run: Asked): Promise<number> {
  return countedBy(sql, countPages, run)
}

type Asked = (tx: Tx) => Promise<unknown>

function countedBy(sql: Sql, count: (tx: Tx) => Promise<number>, run: Asked): Promise<number> {
  return sql.begin(async tx => {
    // Counts of earlier transactions may still be among those of this one.
    const before = await count(tx)
    await run(tx)
    return (await count(tx)) - before
  })
}

async function countPages(tx: Tx): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select sum(pg_stat_get_xact_blocks_fetched(oid))::bigint as count from pg_class
    where relnamespace = 'public'::regnamespace`
  return row!.count
}

async function countRows(tx: Tx, table: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select seq_tup_read + coalesce(idx_tup_fetch, 0) as count from pg_stat_xact_user_tables where relname = ${table}`
  return row!.count
}
