import type { Db, Fragment } from '../../../../postgres/sql.ts'
import { blockSize } from '../../../../engine/state.ts'
import { isShown, isTrashOf, isWithin, type Listed, type Place, type Shown } from './place.ts'

/** Below this, walking over skipped rows costs less than reading blocks. A guess. */
export const walkLimit = 2_000

/**
 * `select n, first_id, size`: the blocks of a place, numbered from the oldest, with the number of shown items; the newest
 * block is taken for full.
 */
function selectBlocks(db: Db, { table, place, shown }: Listed): Fragment {
  const from = db`from blocks where app_id = ${place.app} and parent_id = ${place.parent ?? 0}`
  const blocks = db`
    select row_number() over (order by first_id)::int as n, first_id, ${sizeOf(db, shown)} as size ${from}`
  if (shown.ownTrash === undefined) return blocks
  return db`
    select n, first_id, size + coalesce(own.count, 0) as size
    from (${blocks}) b left join (
      select width_bucket(id, (select array_agg(first_id order by first_id) ${from})) as n, count(*) as count
      from ${db(table)} where ${isTrashOf(db, place, shown.ownTrash)}
      group by 1
    ) own using (n)`
}

/** The number of shown items of a block; `blocks` stores the missing ones, so that new items cost nothing. */
function sizeOf(db: Db, { kept }: Shown): Fragment {
  if (kept === 'trashed') return db`trashed_count`
  if (kept === 'all') return db`${blockSize}::int - deleted_count`
  return db`${blockSize}::int - deleted_count - trashed_count`
}

/**
 * Where to start looking for the item at `skip`, oldest first: an id at or before it, and the number of shown items in
 * between. A deep skip sums one row per 1,000 items instead of walking over all of them.
 */
export async function findStart(db: Db, listed: Listed, skip: number): Promise<{ id: number; skip: number }> {
  const [row] = await db<{ first_id: number; before: number }[]>`
    select first_id, before from (
      select first_id,
        coalesce(sum(size) over (order by n rows between unbounded preceding and 1 preceding), 0)::bigint as before
      from (${selectBlocks(db, listed)}) b
    ) b
    where before <= ${skip}
    order by first_id desc limit 1`
  return row === undefined ? { id: 0, skip } : { id: row.first_id, skip: skip - row.before }
}

/** The number of shown items of a place with a smaller id. */
export async function countBefore(db: Db, listed: Listed, id: number): Promise<number> {
  const { table, place, shown } = listed
  const [block] = await db<{ first_id: number; before: number }[]>`
    select coalesce(max(first_id), 0) as first_id,
      (coalesce(sum(size), 0) - coalesce((array_agg(size order by n desc))[1], 0))::bigint as before
    from (${selectBlocks(db, listed)}) b where first_id <= ${id}`
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from ${db(table)}
    where ${isWithin(db, place, { from: block!.first_id, before: id })} and ${isShown(db, shown)}`
  return block!.before + row!.count
}

/** The number of trashed items of a place. */
export async function countTrashed(db: Db, { app, parent }: Place): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select coalesce(sum(trashed_count), 0)::bigint as count from blocks
    where app_id = ${app} and parent_id = ${parent ?? 0}`
  return row!.count
}

/** The number of an author's trashed items of a place. */
export async function countTrashOf(db: Db, table: string, place: Place, author: number): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from ${db(table)} where ${isTrashOf(db, place, author)}`
  return row!.count
}

/** True where the item is listed. */
export async function isListed(db: Db, { table, place, shown }: Listed, id: number): Promise<boolean> {
  const rows = await db`
    select from ${db(table)} where id = ${id} and ${isWithin(db, place)} and ${isShown(db, shown)}`
  return rows.length > 0
}
