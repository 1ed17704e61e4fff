import type { Db, Sql } from '../../../../postgres/sql.ts'
import type { ContentRow } from '../../schema.ts'
import type { ContentStore, ContentTable, OrderField } from '../../store.ts'
import type { Page } from '../../../../api/page.ts'
import { blockSize, walkLimit } from '../positions/position.ts'
import type { Scope } from '../scope.ts'

// Positions by id over several apps, of visible items made directly in them. Blocks of each app are summed, so many
// concurrently active apps cost most: of each app that goes on after an item, a part of a block is read.

/** The most apps for which positions are used: 10 to 20 ms. Beyond, and for other lists, items are counted. */
export const placedApps = 1_000

/** An id, and the number of items before it. */
export interface Mark {
  id: number
  before: number
}

/** The number of items of the apps with a smaller id. Served by (app_id, id) and the primary key of blocks. */
export async function countBeforeIn(db: Db, table: ContentTable, apps: number[], id: number): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    with ends as (
      select p.id as app_id, p.item_count, newest.id as newest_id
      from apps p left join lateral (
        select id from ${db(table)} t where t.app_id >= p.id and t.app_id <= p.id
        order by t.app_id desc, t.id desc limit 1
      ) newest on true
      where p.id = any(${apps}::bigint[])
    ),
    open as (
      select app_id, first_id, before from ends cross join lateral (
        select max(first_id) as first_id, sum(size) - (array_agg(size order by first_id desc))[1] as before from (
          select first_id, ${blockSize}::int - trashed_count - deleted_count as size from blocks b
          where b.app_id = ends.app_id and b.parent_id = 0 and b.first_id <= ${id}
        ) b
      ) b
      where newest_id >= ${id} and first_id is not null
    )
    select ((select coalesce(sum(item_count), 0) from ends where newest_id < ${id})
      + (select coalesce(sum(before), 0) from open)
      + (select count(*) from open cross join lateral (
          select from ${db(table)} t
          where (t.app_id, t.id) >= (open.app_id, open.first_id) and (t.app_id, t.id) < (open.app_id, ${id})
            and t.trashed_at is null
        ) t))::bigint as count`
  return row!.count
}

/** An item with at most `skip` items before it: the first of the newest such block. */
async function findMark(db: Db, table: ContentTable, apps: number[], skip: number): Promise<Mark | null> {
  const [row] = await db<{ id: number | null }[]>`
    select max(first_id) as id from (
      select first_id, sum(size) over (order by first_id rows between unbounded preceding and 1 preceding) as before
      from (
        -- The newest block of an app is not full.
        select b.first_id, case when lead(b.first_id) over own is not null
          then ${blockSize}::int - b.trashed_count - b.deleted_count
          else p.item_count - coalesce(sum(${blockSize}::int - b.trashed_count - b.deleted_count)
            over (own rows between unbounded preceding and 1 preceding), 0) end as size
        from blocks b join apps p on p.id = b.app_id
        where b.app_id = any(${apps}::bigint[]) and b.parent_id = 0
        window own as (partition by b.app_id order by b.first_id)
      ) b
    ) b
    where before <= ${skip}`
  if (row?.id == null) return null
  return { id: row.id, before: await countBeforeIn(db, table, apps, row.id) }
}

interface Asked {
  scope: Scope & { apps: number[] }
  page: Page<OrderField>
  /** The number of all items. */
  count: number
  /** An item with a known position. */
  mark: Mark | null
}

/** A page of the apps, starting from an item with a known position, which is found here for deep pages. */
export async function listAcross(sql: Sql, store: ContentStore, asked: Asked): Promise<ContentRow[]> {
  const { scope, page, count } = asked
  const { descending } = page.order[0]!
  const limit = Math.min(page.take, count - page.skip)
  const first = descending ? count - page.skip - limit : page.skip
  const isDeep = page.skip > walkLimit
  const mark = asked.mark ?? (isDeep ? await findMark(sql, store.table, scope.apps, first) : null)
  if (mark === null) return store.list(sql, scope, page)
  const list = (narrow: Partial<Scope>, part: { skip: number; take: number; descending: boolean }) =>
    store.list(
      sql,
      { ...scope, ...narrow },
      { ...page, ...part, order: [{ field: 'id', descending: part.descending }] },
    )
  // The page contains the item, or follows it.
  const older = Math.max(0, mark.before - first)
  const skip = Math.max(0, first - mark.before)
  const [before, after] = await Promise.all([
    older === 0 ? [] : list({ before: mark.id }, { skip: 0, take: older, descending: true }),
    list({ after: mark.id - 1 }, { skip, take: limit - older, descending: false }),
  ])
  const rows = [...Array.from(before).reverse(), ...after]
  return descending ? rows.reverse() : rows
}
