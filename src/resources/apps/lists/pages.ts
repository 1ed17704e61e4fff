import type { Principal } from '../../../auth/principal.ts'
import type { IdPage, Page } from '../../../api/page.ts'
import { cachedQuery, rememberedCount } from '../../../postgres/cached-query.ts'
import { countRows, type Db, type Sql } from '../../../postgres/sql.ts'
import { toCalled } from './names.ts'
import { toOrder, toSource, type AppFilter, type OrderField } from './source.ts'

/** The ids of one page of the apps that the caller is a member of (for an API key, of all apps), and the total. */
export async function listApps(sql: Db, filter: AppFilter, page: Page<OrderField>): Promise<IdPage> {
  const q = page.q?.trim()
  if ((q || page.order[0]!.field === 'name') && (await areMany(sql, filter.by))) {
    const listed = await listNamed(sql as Sql, filter, page)
    if (listed !== null) return listed
  }
  const called = q ? await toCalled(sql, q, filter.by) : { isCalled: sql`true`, isFew: false }
  const from = toSource(sql, filter, page, called)
  if ((q || filter.by.kind === 'user') && !page.countOnly) {
    // The query may go through all apps, so page and total come from one run.
    const found = await sql<{ id: number; count: number }[]>`
      select a.id, count(*) over () as count ${from}
      order by ${toOrder(sql, page.order, filter.by)}
      limit ${page.take} offset ${page.skip}`
    if (found.length > 0) return { ids: found.map(row => row.id), count: found[0]!.count }
  }
  const { tags, trashed } = page
  const { kind, user } = filter.by
  const question = ['apps', { ...filter, by: [kind, user] }, q, tags, trashed]
  const count = await rememberedCount(sql, question, () => countRows(sql, sql`select ${from}`))
  if (page.countOnly || count <= page.skip) return { ids: [], count }
  const rows = await sql<{ id: number }[]>`
    select a.id ${from}
    order by ${toOrder(sql, page.order, filter.by)}
    limit ${page.take} offset ${page.skip}`
  return { ids: rows.map(row => row.id), count }
}

/** With this many apps, computing all their titles takes too long: 7 µs each (measured). */
const manyApps = 10_000

/** True where a list may contain so many apps: of all, by PostgreSQL's statistics, or of the user's. */
async function areMany(db: Db, by: Principal): Promise<boolean> {
  const [row] = await db<{ are_many: boolean }[]>`
    select ${
      by.kind === 'key'
        ? db`(select reltuples >= ${manyApps} from pg_class where oid = 'apps'::regclass)`
        : db`(select count(*) from (select from members where user_id = ${by.user} limit ${manyApps}) m) = ${manyApps}`
    } as are_many`
  return row!.are_many
}

/**
 * A page of very many apps by title, from a list of ids that is cached for all pages. Membership and all other data is
 * read again. Null where the page is beyond the cached ids, or a word matches only few apps.
 */
async function listNamed(sql: Sql, filter: AppFilter, page: Page<OrderField>): Promise<IdPage | null> {
  const { skip, take, countOnly, q, ...asked } = page
  const { kind, user } = filter.by
  const named = await gatherNamed(sql, {
    filter: { ...filter, by: { kind, user, credential: '' } },
    page: { ...asked, q },
  })
  if (named === null) return null
  const { count, ids } = named
  if (countOnly || skip >= count) return { ids: [], count }
  if (skip + take > ids.length && ids.length < count) return null
  const wanted = ids.slice(skip, skip + take)
  const from = toSource(
    sql,
    filter,
    { ...page, q: undefined },
    { isCalled: sql`a.id = any(${wanted}::bigint[])`, isFew: true },
  )
  const left = new Set((await sql<{ id: number }[]>`select a.id ${from}`).map(({ id }) => id))
  return { ids: wanted.filter(id => left.has(id)), count }
}

/** How long the order of titles may be reused: computing it takes 1.5 s for 200,000 apps. */
const rememberedMs = 30_000

/** The most ids of one cached list, and lists: 0.8 MB each at most. Guesses. */
const rememberedIds = 100_000
const rememberedLists = 20

interface Named {
  filter: AppFilter
  page: Omit<Page<OrderField>, 'skip' | 'take' | 'countOnly'>
}

const gatherNamed = cachedQuery(
  rememberedMs,
  async (sql: Sql, { filter, page }: Named): Promise<IdPage | null> => {
    const q = page.q?.trim()
    const called = q ? await toCalled(sql, q, filter.by) : { isCalled: sql`true`, isFew: false }
    if (called.isFew) return null
    const [row] = await sql<[{ ids: string | null; count: number }]>`
      with found as materialized (
        select a.id, row_number() over (order by ${toOrder(sql, page.order, filter.by)}) as place
        ${toSource(sql, filter, { ...page, skip: 0, take: 0, countOnly: false }, called)})
      select string_agg(id::text, ',' order by place) filter (where place <= ${rememberedIds}) as ids, count(*) as count
      from found`
    return { ids: row.ids?.split(',').map(Number) ?? [], count: row.count }
  },
  rememberedLists,
)
