import type { Db, Fragment } from './sql.ts'

/** The number of rows that a query selects. */
export async function countRows(db: Db, rows: Fragment): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from (${rows}) r`
  return row!.count
}

/** Rows in the order of their ids. Ids without a row, such as those of rows that were deleted meanwhile, are left out. */
export function inOrder<Row extends { id: number }>(ids: number[], rows: Row[]): Row[] {
  const byId = new Map(rows.map(row => [row.id, row]))
  return ids.flatMap(id => byId.get(id) ?? [])
}
