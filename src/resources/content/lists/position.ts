import type { Db, Fragment } from '../../../storage/sql.ts'

/** Items of one app that are listed: the visible ones, the trashed ones, or both. */
export type Shown = 'visible' | 'trashed' | 'all'

/** How many items a block is started for. Must never change: blocks that exist count on it. */
export const blockSize = 1_000

/** Below this, walking over the rows that are skipped costs less than looking at the blocks. A guess. */
export const walkLimit = 2_000

/**
 * `app_id = app`, for what is ordered by (app_id, id). Said as an equation, PostgreSQL takes `order by app_id, id` for
 * `order by id` and may walk the primary key: over all rows of other apps that are newer, or older, than this one's.
 */
export function isWithin(db: Db, app: number): Fragment {
  return db`app_id >= ${app} and app_id <= ${app}`
}

export function isShown(db: Db, shown: Shown): Fragment {
  if (shown === 'all') return db`true`
  return shown === 'visible' ? db`trashed_at is null` : db`trashed_at is not null`
}

/** How many items of a block are shown; `blocks` keeps what is missing, so that new items cost nothing. */
function sizeOf(db: Db, shown: Shown): Fragment {
  if (shown === 'trashed') return db`trashed_count`
  if (shown === 'all') return db`${blockSize}::int - deleted_count`
  return db`${blockSize}::int - deleted_count - trashed_count`
}

/**
 * Where the item at `skip`, oldest first, is to be looked for: an id at or before it, and how many shown items are
 * between. A deep skip adds up one row for each 1,000 items instead of walking over all of them.
 */
export async function findStart(
  db: Db,
  app: number,
  skip: number,
  shown: Shown,
): Promise<{ id: number; skip: number }> {
  if (skip <= walkLimit) return { id: 0, skip }
  const [row] = await db<{ first_id: number; before: number }[]>`
    select first_id, before from (
      select first_id,
        coalesce(sum(${sizeOf(db, shown)}) over (order by first_id rows between unbounded preceding and 1 preceding), 0)
          ::bigint as before
      from blocks where app_id = ${app}
    ) b
    where before <= ${skip}
    order by first_id desc limit 1`
  return row === undefined ? { id: 0, skip } : { id: row.first_id, skip: skip - row.before }
}

/** How many shown items of the app have a smaller id. `table` holds the app's content. */
export async function countBefore(db: Db, table: string, app: number, id: number, shown: Shown): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    with block as (
      select coalesce(max(first_id), 0) as first_id from blocks where app_id = ${app} and first_id <= ${id}
    )
    select (
      select count(*) from ${db(table)}
      where (app_id, id) >= (${app}, (select first_id from block)) and (app_id, id) < (${app}, ${id})
        and ${isShown(db, shown)}
    ) + (
      select coalesce(sum(${sizeOf(db, shown)}), 0)::bigint
      from blocks where app_id = ${app} and first_id < (select first_id from block)
    ) as count`
  return row?.count ?? 0
}
