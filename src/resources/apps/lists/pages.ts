import type { Page } from '../../../api/page.ts'
import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import { areMany, listNamed, type Found } from './all-by-name.ts'
import { toCalled } from './names.ts'
import { isKept, isWhole, toOrder, toSource, type AppFilter, type OrderField } from './source.ts'

/** The ids of one page of the apps that the caller is a member of (for an API key, of all apps), and the total. */
export async function listApps(sql: Db, filter: AppFilter, page: Page<OrderField>): Promise<Found> {
  const q = page.q?.trim()
  if ((q || page.order[0]!.field === 'name') && (await areMany(sql, filter.by))) {
    const listed = await listNamed(sql as Sql, filter, page)
    if (listed !== null) return listed
  }
  const called = q ? await toCalled(sql, q, filter.by) : { isCalled: sql`true`, isFew: false }
  const from = toSource(sql, filter, page, called)
  if ((q || (filter.by.kind === 'user' && !isWhole(filter, page))) && !page.countOnly) {
    // The query may check every app, so page and total come from one run.
    const found = await sql<{ id: number; count: number }[]>`
      select a.id, count(*) over () as count ${from}
      order by ${toOrder(sql, page.order, filter.by)}
      limit ${page.take} offset ${page.skip}`
    if (found.length > 0) return { ids: found.map(row => row.id), count: found[0]!.count }
  }
  const [total] = await sql<{ count: number }[]>`select ${countOf(sql, filter, page, from)} as count`
  const count = total!.count
  if (page.countOnly || count <= page.skip) return { ids: [], count }
  const rows = await sql<{ id: number }[]>`
    select a.id ${from}
    order by ${toOrder(sql, page.order, filter.by)}
    limit ${page.take} offset ${page.skip}`
  return { ids: rows.map(row => row.id), count }
}

/**
 * The total. For all apps of a user, the few unlisted ones are subtracted: 25 ms for 100,000 instead of 95 to check
 * each app. Served by members_user and apps_hidden.
 */
function countOf(sql: Db, filter: AppFilter, page: Page, from: Fragment): Fragment {
  const { by } = filter
  if (by.kind === 'key' || !isWhole(filter, page)) return sql`(select count(*) ${from})`
  const isMine = sql`m.user_id = ${by.user} and m.access <> 'none'`
  return sql`(
    (select count(*) from members m where ${isMine})
    -- Said so that what is hidden is hashed, and not looked up for each membership: 600 pages for 20,000 instead of 40,000.
    - (select count(*) from members m
      where ${isMine} and (m.app_id in (select id from apps where trashed_at is not null or deleted_at is not null)) is true)
    - (select count(*) from members m join apps a on a.id = m.app_id
      where ${isMine} and m.is_removed and a.trashed_at is null and a.deleted_at is null and not ${isKept(sql)}))`
}
