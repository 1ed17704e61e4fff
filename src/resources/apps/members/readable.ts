import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'

// `canRead` of access.ts as SQL, for lists. An owner is an admin of its app, so that memberships say all of members.

/** A condition on `a`, a row of apps: it is in use. */
function isLive(db: Db): Fragment {
  return db`a.trashed_at is null and a.deleted_at is null`
}

/** A condition on `a`: users in these directories have access by default. Served by apps_open. */
function isOpenTo(db: Db, directories: number[]): Fragment {
  return db`a.access <> 'none' and (a.directory_id is null or a.directory_id = any(${directories}::bigint[]))`
}

interface ReadableApp {
  id: number
  type: string
  /** Messages up to this one are hidden from the user. */
  hidden_id: number | null
  is_admin: boolean
  can_write: boolean
}

/**
 * The apps that a user may read, by membership (members_user) or by default access (apps_open), and that match `which`,
 * a condition on `a`, a row of apps.
 */
export function listReadable(sql: Sql, user: number, directories: number[], which: Fragment): Promise<ReadableApp[]> {
  return sql<ReadableApp[]>`${selectReadable(sql, user, directories, which)}`
}

/** The query of listReadable as a fragment. */
export function selectReadable(db: Db, user: number, directories: number[], which: Fragment): Fragment {
  return db`
    select a.id, a.type, m.hidden_id, m.access = 'admin' or a.owner_id = ${user} as is_admin,
      m.access in ('write', 'admin') or coalesce(a.owner_id = ${user}, false) as can_write
    from members m join apps a on a.id = m.app_id
    where m.user_id = ${user} and m.access <> 'none' and ${isLive(db)} and ${which}
    union all
    select a.id, a.type, null, coalesce(a.owner_id = ${user}, false), a.access = 'write' or coalesce(a.owner_id = ${user}, false)
    from apps a
    where ${isOpenTo(db, directories)} and ${isLive(db)}
      and not exists (select from members m where m.app_id = a.id and m.user_id = ${user} and m.access is not null)
      and ${which}`
}

/** The apps that a user may read, with data for lists of their content. */
export interface Reach {
  apps: number[]
  /** The type of each app, in the same order, where these were asked for. */
  types: string[]
  /** Items up to these ids are hidden from the user, by app. */
  hidden: { app: number; id: number }[]
  administered: number[]
  /** Apps in which the user may not write. */
  readOnly: number[]
  /** The number of visible items made directly in the counted apps. */
  itemCount: number
  /** The most recently active apps, newest first, and when: as many as were asked for. */
  lively: { id: number; head_at: Date }[]
}

interface Reader {
  user: number
  directories: number[]
  /** Conditions on `a`, a row of apps: which apps are wanted, and whose items are counted. */
  which: Fragment
  counted: Fragment
  lively: number
  /** True where the types of the apps are wanted. */
  isTyped?: boolean
}

/** Lists of numbers with commas between; null for none. */
type Lists = 'apps' | 'types' | 'hidden_apps' | 'hidden_ids' | 'administered' | 'read_only' | 'lively' | 'head_ms'
type Row = Record<Lists, string | null> & { item_count: number }

/**
 * As `selectReadable`, for a user who may be in very many apps. These are passed as one array, so that PostgreSQL walks
 * the primary key of apps once instead of descending it for each, and looks memberships up in hashes: with 20,000 apps
 * it takes a third of the pages and of the time of a join. Results are texts, because reading a row for each takes as
 * long again.
 */
export async function gatherReach(sql: Sql, reader: Reader): Promise<Reach> {
  const { user, directories, which, counted, lively, isTyped = false } = reader
  const isOwn = sql`coalesce(a.owner_id = ${user}, false)`
  const [row] = await sql<[Row]>`
    with mine as materialized (
      select app_id, access, hidden_id from members where user_id = ${user} and access is not null
    ), readable as materialized (
      select a.id, a.type, a.item_count, a.head_at, ${isOwn} or a.id in (select app_id from mine where access = 'admin') as is_admin,
        ${isOwn} or a.id in (select app_id from mine where access in ('write', 'admin')) as can_write, ${counted} as is_counted
      from apps a
      where a.id = any(array(select app_id from mine where access <> 'none')) and ${isLive(sql)} and ${which}
      union all
      select a.id, a.type, a.item_count, a.head_at, ${isOwn}, a.access = 'write' or ${isOwn}, ${counted}
      from apps a
      where ${isOpenTo(sql, directories)} and a.id not in (select app_id from mine) and ${isLive(sql)} and ${which}
    ), hidden as (
      select app_id, hidden_id from mine where hidden_id is not null and app_id in (select id from readable)
    ), lively as (
      select id, head_at from readable order by head_at desc limit ${lively}
    )
    select string_agg(id::text, ',') as apps, ${isTyped ? sql`string_agg(type, ',')` : sql`null::text`} as types,
      (select string_agg(app_id::text, ',' order by app_id) from hidden) as hidden_apps,
      (select string_agg(hidden_id::text, ',' order by app_id) from hidden) as hidden_ids,
      (select string_agg(id::text, ',' order by head_at desc, id) from lively) as lively,
      (select string_agg((extract(epoch from head_at) * 1000)::bigint::text, ',' order by head_at desc, id) from lively) as head_ms,
      string_agg(id::text, ',') filter (where is_admin) as administered,
      string_agg(id::text, ',') filter (where not can_write) as read_only,
      coalesce(sum(item_count) filter (where is_counted), 0)::bigint as item_count
    from readable`
  const hiddenIds = toNumbers(row.hidden_ids)
  const heads = toNumbers(row.head_ms)
  return {
    apps: toNumbers(row.apps),
    types: row.types?.split(',') ?? [],
    hidden: toNumbers(row.hidden_apps).map((app, at) => ({ app, id: hiddenIds[at]! })),
    administered: toNumbers(row.administered),
    readOnly: toNumbers(row.read_only),
    itemCount: row.item_count,
    lively: toNumbers(row.lively).map((id, at) => ({ id, head_at: new Date(heads[at]!) })),
  }
}

function toNumbers(text: string | null): number[] {
  return text === null ? [] : text.split(',').map(Number)
}
