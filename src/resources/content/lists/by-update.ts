import { NotFound } from '../../../lib/errors.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'
import type { ContentRow } from '../schema.ts'
import type { IdPage } from './by-id.ts'
import { isOfKind, isShown, isTrashOf, isWithin, toKey, type Listed, type Place } from './positions/place.ts'
import { countUneditedBefore, selectBlocks, walkLimit } from './positions/position.ts'

// The order by `updated_at`, with the creation of items that were never edited. These are in the order of ids, because
// the time of an app never goes back; edited items have an index of their own, messages_edited and the like. A page is
// merged from both. Deep pages are found by summing the blocks of items, without items edited since, and the blocks of
// edits.

/** Reads a page at any depth; `count` items are shown in all. */
export async function listByUpdate(
  db: Db,
  listed: Listed,
  { count, skip, take, descending }: Pick<IdPage, 'count' | 'skip' | 'take' | 'descending'>,
): Promise<ContentRow[]> {
  const limit = Math.min(take, count - skip)
  const first = descending ? count - skip - limit : skip
  if (descending && skip <= walkLimit) return merge(db, listed, { from: null, skip, limit, descending })
  const from = first <= walkLimit ? null : await findStart(db, listed, first)
  const rows = await merge(db, listed, { from, skip: first - (from?.before ?? 0), limit, descending: false })
  return descending ? rows.toReversed() : rows
}

/** A time, and an id among the items of that time. The time is a text, in the database's precision. */
interface Moment {
  time: string
  id: number
}

/** The number of shown items before one in that order; 404 where it has been deleted. */
export async function countBeforeByUpdate(db: Db, listed: Listed, id: number): Promise<number> {
  const [moment] = await db<Moment[]>`
    select coalesce(updated_at, created_at)::text as time, id from ${db(listed.table)} where id = ${id}`
  if (moment === undefined) throw NotFound()
  const unedited = await countUneditedBefore(db, listed, await findMadeFrom(db, listed, moment))
  return unedited + (await countEditedBefore(db, listed, moment))
}

/**
 * The first item of a place created at a moment or later; beyond all ids where there is none. Reads one block: within
 * an app, times follow ids.
 */
async function findMadeFrom(db: Db, { table, place }: Listed, { time, id }: Moment): Promise<number> {
  const [row] = await db<{ id: number }[]>`
    select id from ${db(table)}
    where ${isWithin(db, place, {
      from: db`(
        select coalesce(max(first_id), 0) from blocks
        where app_id = ${place.app} and parent_id = ${place.parent ?? 0}
          and (made_at, first_id) <= (${time}::text::timestamptz, ${id}::bigint))`,
    })}
      and (created_at, id) >= (${time}::text::timestamptz, ${id})
    order by ${toKey(db, place)}, id limit 1`
  return row?.id ?? Number.MAX_SAFE_INTEGER
}

interface Start {
  /** The first item that was never edited. */
  id: number
  /** The first edited item. */
  edit: Moment
  /** The number of shown items before. */
  before: number
}

/**
 * Where to start looking for the item at `skip`: at the start of a block of items or edits. A part of the preceding
 * block of the other kind comes later, and is counted.
 */
async function findStart(db: Db, listed: Listed, skip: number): Promise<Start | null> {
  const [mark] = await db<{ time: string; id: number; is_edit: boolean }[]>`
    select time::text, id, is_edit from (
      select time, id, is_edit,
        coalesce(sum(size) over (order by time, id rows between unbounded preceding and 1 preceding), 0) as most
      from (
        select made_at as time, first_id as id, unedited as size, false as is_edit from (${selectBlocks(db, listed)}) b
        union all
        select first_at, 0, size, true from (${selectEdits(db, listed)}) e
      ) marks
    ) m
    where most <= ${skip}
    order by m.time desc, id desc limit 1`
  if (mark === undefined) return null
  const edit = { time: mark.time, id: mark.id }
  const id = mark.is_edit ? await findMadeFrom(db, listed, edit) : mark.id
  const before = (await countUneditedBefore(db, listed, id)) + (await countEditedBefore(db, listed, edit))
  return { id, edit, before }
}

/** `select first_at, size`: the blocks of edits of a place, and how many shown items were last edited in each. */
function selectEdits(db: Db, { table, place, shown: { kept, ownTrash } }: Listed): Fragment {
  const size =
    kept === 'all' ? db`item_count` : kept === 'trashed' ? db`trashed_count` : db`(item_count - trashed_count)`
  const from = db`from edit_blocks where app_id = ${place.app} and parent_id = ${place.parent ?? 0}`
  if (ownTrash === undefined) return db`select first_at, ${size} as size ${from}`
  return db`
    select first_at, size + coalesce(own.count, 0) as size
    from (select row_number() over (order by first_at)::int as n, first_at, ${size} as size ${from}) e
    left join (
      select width_bucket(updated_at, (select array_agg(first_at order by first_at) ${from})) as n, count(*) as count
      from ${db(table)} where ${isTrashOf(db, place, ownTrash)} and updated_at is not null
      group by 1
    ) own using (n)`
}

/** The number of edited shown items before a moment. */
async function countEditedBefore(db: Db, listed: Listed, { time, id }: Moment): Promise<number> {
  const { table, place, shown } = listed
  const [block] = await db<{ first_at: string | null; before: number }[]>`
    select max(first_at)::text as first_at,
      (coalesce(sum(size), 0) - coalesce((array_agg(size order by first_at desc))[1], 0))::bigint as before
    from (${selectEdits(db, listed)}) e where first_at <= ${time}::text::timestamptz`
  const { first_at, before } = block!
  if (first_at === null) return 0
  // PostgreSQL expects few rows between two times, but between two row values so many that it reads the app by id, in 2
  // s.
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from ${db(table)}
    where ${toKey(db, place)} = ${place.parent ?? place.app} and ${isOfKind(db, place)} and ${isShown(db, shown)}
      and updated_at >= ${first_at}::text::timestamptz and updated_at <= ${time}::text::timestamptz
      and (updated_at, id) < (${time}::text::timestamptz, ${id})`
  return before + row!.count
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

/** `select id, time`: enough items of either kind for the page. */
function selectMerged(db: Db, { table, place, shown }: Listed, { from, skip, limit, descending }: Part): Fragment {
  const key = toKey(db, place)
  const direction = descending ? db`desc` : db`asc`
  const most = skip + limit
  const edited =
    from === null ? db`${isWithin(db, place)} and updated_at is not null` : isEditedFrom(db, place, from.edit)
  return db`(
    select id, created_at as time from ${db(table)}
    where ${isWithin(db, place, { from: from?.id })} and updated_at is null and ${isShown(db, shown)}
    order by ${key} ${direction}, id ${direction} limit ${most}
  ) union all (
    select id, updated_at from ${db(table)}
    where ${edited} and ${isShown(db, shown)}
    order by ${key} ${direction}, updated_at ${direction}, id ${direction} limit ${most}
  )`
}

/** `isWithin` for (app_id, updated_at, id), from a moment on. */
function isEditedFrom(db: Db, place: Place, { time, id }: Moment): Fragment {
  const key = toKey(db, place)
  const value = place.parent ?? place.app
  return db`(${key}, updated_at, id) >= (${value}, ${time}::text::timestamptz, ${id}) and ${key} <= ${value}
    and updated_at is not null and ${isOfKind(db, place)}`
}
