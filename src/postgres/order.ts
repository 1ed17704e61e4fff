import type { OrderKey, Page } from '../api/page.ts'
import type { Db, Fragment } from './sql.ts'

/** The `order by` clause of a page request; `columns` gives the SQL expression of each field. */
export function orderBy<Field extends string>(
  db: Db,
  order: OrderKey<Field>[],
  columns: Record<Field, string>,
): Fragment {
  const keys = order.map(({ field, descending }) => `${columns[field]}${descending ? ' desc' : ''}`)
  // Fields have been checked against a list, and each expression is fixed text.
  return db`order by ${db.unsafe(keys.join(', '))}`
}

export interface NearWalk<Field extends string> {
  order: OrderKey<Field>[]
  limit: number
  offset: number
  /** Puts the rows back into the order of the page. */
  restore: <Row>(rows: Row[]) => Row[]
}

/** How to reach a page of `count` rows from the nearer end; `skip` must be below `count`. */
export function fromNearerEnd<Field extends string>(
  { order, skip, take }: Pick<Page<Field>, 'order' | 'skip' | 'take'>,
  count: number,
): NearWalk<Field> {
  const limit = Math.min(take, count - skip)
  const left = count - skip - limit
  if (left >= skip) return { order, limit, offset: skip, restore: rows => rows }
  const reversed = order.map(key => ({ ...key, descending: !key.descending }))
  return { order: reversed, limit, offset: left, restore: rows => rows.toReversed() }
}

/** Rows in the order of their ids. Ids without a row, such as those of rows that were deleted meanwhile, are left out. */
export function inOrder<Row extends { id: number }>(ids: number[], rows: Row[]): Row[] {
  const byId = new Map(rows.map(row => [row.id, row]))
  return ids.flatMap(id => byId.get(id) ?? [])
}
