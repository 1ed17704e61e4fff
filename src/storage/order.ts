import type { OrderKey } from './page.ts'
import type { Db, Fragment } from './sql.ts'

/** `order by` for a page request; `columns` says what each field is sorted by. */
export function orderBy<Field extends string>(
  db: Db,
  order: OrderKey<Field>[],
  columns: Record<Field, string>,
): Fragment {
  const keys = order.map(({ field, descending }) => `${columns[field]}${descending ? ' desc' : ''}`)
  // Fields were checked against a list, and what stands for them is fixed text.
  return db`order by ${db.unsafe(keys.join(', '))}`
}
