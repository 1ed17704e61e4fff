import type { Db, Fragment } from '../../../storage/sql.ts'
import type { ContentRow } from '../schema.ts'
import { isOfKind, isShown, isWithin, toKey, type Listed, type Place } from './place.ts'
import { countBefore, selectBlocks, walkLimit } from './position.ts'

// The order by `updated_at`, where an item that was never edited has the time at which it was made. These follow each
// other by id, because the time of an app never goes back; those that were edited have an index of their own,
// messages_edited and its likes, of which new items know nothing. A page is merged from both. What is deep in it is
// found by counting the edited ones of each block: 10 ms for each 10,000 of them.

/** A page of a place in that order, however deep; `count` items are shown in all. */
export interface UpdatePage {
  count: number
  skip: number
  take: number
  descending: boolean
}

export async function listByUpdate(
  db: Db,
  listed: Listed,
  { count, skip, take, descending }: UpdatePage,
): Promise<ContentRow[]> {
  const limit = Math.min(take, count - skip)
  const first = descending ? count - skip - limit : skip
  if (descending && skip <= walkLimit) return merge(db, listed, { from: null, skip, limit, descending })
  const from = first <= walkLimit ? null : await findStart(db, listed, first)
  const rows = await merge(db, listed, { from, skip: first - (from?.before ?? 0), limit, descending: false })
  return descending ? rows.toReversed() : rows
}

/** How many shown items come before this one in that order. */
export async function countBeforeByUpdate(
  db: Db,
  listed: Listed,
  { id, updated_at }: Pick<ContentRow, 'id' | 'updated_at'>,
): Promise<number> {
  const { table } = listed
  // Its time as the database has it, which may be finer than a Date.
  const time = db`(select coalesce(updated_at, created_at) from ${db(table)} where id = ${id})`
  const end = updated_at === null ? id : await findMadeAfter(db, listed, time, id)
  const [edited] = await db<{ made: number; updated: number }[]>`
    select count(*) filter (where id < ${end}) as made,
      count(*) filter (where (updated_at, id) < (${time}, ${id})) as updated
    from ${db(table)} where ${isEdited(db, listed)}`
  return (await countBefore(db, listed, end)) - edited!.made + edited!.updated
}

interface Start {
  /** The first of those that were never edited. */
  id: number
  /** When it was made: the edited ones begin there. As text, because a Date is less exact. */
  time: string
  /** How many shown items come before. */
  before: number
}

/** Where the item at `skip` is to be looked for: at the start of a block, of which as few items as can be are before it. */
async function findStart(db: Db, listed: Listed, skip: number): Promise<Start | null> {
  const { table } = listed
  const [start] = await db<Start[]>`
    with b as materialized (${selectTimes(db, listed)}),
    moved as (
      select n, sum(gone) as gone, sum(come) as come from (
        select width_bucket(id, (select array_agg(first_id order by n) from b)) as n, 1 as gone, 0 as come
        from ${db(table)} where ${isEdited(db, listed)}
        union all
        select width_bucket(updated_at, (select array_agg(coalesce(made_at, 'infinity') order by n) from b)), 0, 1
        from ${db(table)} where ${isEdited(db, listed)}
      ) e group by n
    ),
    start as (
      select * from (
        select first_id, made_at,
          coalesce(sum(size - coalesce(gone, 0)) over (order by n rows between unbounded preceding and 1 preceding), 0)
            as made,
          sum(coalesce(come, 0)) over (order by n) as edited
        from b left join moved using (n)
      ) s
      where made + edited <= ${skip} and made_at is not null
      order by first_id desc limit 1
    )
    select first_id as id, made_at::text as time, (made + (
      select count(*) from ${db(table)} where ${isEdited(db, listed)} and (updated_at, id) < (made_at, first_id)
    ))::bigint as before
    from start`
  return start ?? null
}

/** The blocks of a place with the time at which the oldest item that is left of each was made, or of a later one. */
function selectTimes(db: Db, listed: Listed): Fragment {
  const { table, place } = listed
  const key = toKey(db, place)
  return db`
    select b.*, oldest.created_at as made_at
    from (${selectBlocks(db, listed)}) b left join lateral (
      select created_at from ${db(table)}
      where ${isWithin(db, place, { from: db`b.first_id` })}
      order by ${key}, id limit 1
    ) oldest on true`
}

/** The first item of the place that was made at a time or later, if at that time with a larger id. */
async function findMadeAfter(db: Db, listed: Listed, time: Fragment, id: number): Promise<number> {
  const { table, place } = listed
  const key = toKey(db, place)
  const [row] = await db<{ id: number }[]>`
    with b as (${selectTimes(db, listed)})
    select id from ${db(table)}
    where ${isWithin(db, place, { from: db`(select coalesce(max(first_id), 0) from b where (made_at, first_id) <= (${time}, ${id}))` })}
      and (created_at, id) >= (${time}, ${id})
    order by ${key}, id limit 1`
  return row?.id ?? Number.MAX_SAFE_INTEGER
}

interface Part {
  from: Start | null
  skip: number
  limit: number
  descending: boolean
}

async function merge(db: Db, listed: Listed, part: Part): Promise<ContentRow[]> {
  const { table } = listed
  const direction = part.descending ? db`desc` : db`asc`
  const rows = await db<ContentRow[]>`
    select t.* from (
      ${selectMerged(db, listed, part)}
      order by time ${direction}, id ${direction} limit ${part.limit} offset ${part.skip}
    ) page join ${db(table)} t using (id)
    order by page.time ${direction}, id ${direction}`
  return Array.from(rows)
}

/** `select id, time`: as many of those that were never edited, and of those that were, as a part may show. */
function selectMerged(db: Db, { table, place, shown }: Listed, { from, skip, limit, descending }: Part): Fragment {
  const key = toKey(db, place)
  const direction = descending ? db`desc` : db`asc`
  const most = skip + limit
  const edited = from === null ? isWithin(db, place) : isEditedFrom(db, place, from)
  return db`(
    select id, created_at as time from ${db(table)}
    where ${isWithin(db, place, { from: from?.id })} and updated_at is null and ${isShown(db, shown)}
    order by ${key} ${direction}, id ${direction} limit ${most}
  ) union all (
    select id, updated_at from ${db(table)}
    where ${edited} and updated_at is not null and ${isShown(db, shown)}
    order by ${key} ${direction}, updated_at ${direction}, id ${direction} limit ${most}
  )`
}

/** `isWithin` for (app_id, updated_at, id). */
function isEditedFrom(db: Db, place: Place, { time, id }: Start): Fragment {
  const key = toKey(db, place)
  const value = place.parent ?? place.app
  return db`(${key}, updated_at, id) >= (${value}, ${time}::timestamptz, ${id}) and ${key} <= ${value}
    and ${isOfKind(db, place)}`
}

/** Not a walk: which index has it does not matter to its order. */
function isEdited(db: Db, { place, shown }: Listed): Fragment {
  return db`${isWithin(db, place)} and updated_at is not null and ${isShown(db, shown)}`
}
