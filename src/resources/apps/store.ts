import { deletedUser, type Principal } from '../../actors/principal.ts'
import type { Access, AppRow } from '../../actors/state.ts'
import type { OrderKey, Page } from '../../storage/page.ts'
import type { Db, Fragment, Sql, Tx } from '../../storage/sql.ts'
import { nameFor, toCalled } from './names.ts'

export const orderFields = ['id', 'name', 'created_at', 'updated_at', 'rev', 'pinned_at'] as const
export type OrderField = (typeof orderFields)[number]

/**
 * The app of that uid that concerns the caller: their own agent chat, or any other type; for an API key somebody's agent
 * chat where there is nothing else. Served by apps_uid and apps_agent_chat_uid. Null when there is none.
 */
export async function findAppId(db: Db, uid: string, by: Principal): Promise<number | null> {
  const [id] = await findAppIds(db, [uid], by)
  return id ?? null
}

/** The same for several uids at once, in no order. */
export async function findAppIds(db: Db, uids: string[], by: Principal): Promise<number[]> {
  const own = by.kind === 'key' ? db`true` : db`owner_id = ${by.user}`
  const isNamed = db`lower(uid) = any(array(select lower(u) from unnest(${uids}::text[]) u)) and deleted_at is null`
  // In two parts, because one condition for both fits neither index: 35 ms instead of 0.1 among 100,000 apps.
  const rows = await db<{ id: number }[]>`
    select distinct on (uid) id from (
      select id, lower(uid) as uid, case when owner_id = ${by.user} then 1 else 3 end as rank from apps
      where ${isNamed} and type = 'agent_chat' and ${own}
      union all
      select id, lower(uid), 2 from apps
      where ${isNamed} and type <> 'agent_chat'
    ) a
    order by uid, rank, id`
  return rows.map(({ id }) => id)
}

/** True where another app has a uid that this one may therefore not have: two people may use one for agent chats. */
export async function isUidTaken(db: Db, app: number, uid: string): Promise<boolean> {
  const rows = await db`
    select from apps own, lateral (
      select id from apps
      where lower(uid) = lower(${uid}) and deleted_at is null and type <> 'agent_chat'
      union all
      select id from apps
      where lower(uid) = lower(${uid}) and deleted_at is null and type = 'agent_chat'
        and (own.type <> 'agent_chat' or owner_id = own.owner_id)
    ) other
    where own.id = ${app} and lower(own.uid) is distinct from lower(${uid})`
  return rows.length > 0
}

export interface NewAppRow {
  type: string
  uid: string | null
  name: string | null
  description: string | null
  metadata: Record<string, unknown> | null
  tags: string[]
  access: Access
  directory_id: number | null
  picture_id: number | null
  is_joinable: boolean
  pair: string | null
  owner_id: number | null
  rev: number
  head_rev: number
  created_at: Date
  created_by: number
}

export async function insertApp(tx: Tx, row: NewAppRow): Promise<AppRow> {
  const metadata = row.metadata === null ? null : JSON.stringify(row.metadata)
  const [inserted] = await tx<AppRow[]>`
    insert into apps (type, uid, name, description, metadata, tags, access, directory_id, picture_id, is_joinable, pair,
      owner_id, rev, head_rev, created_at, created_by)
    values (${row.type}, free_uid(${row.uid}, null, ${row.type}), ${row.name}, ${row.description},
      ${metadata}::text::jsonb, ${row.tags}, ${row.access}, ${row.directory_id}, ${row.picture_id}, ${row.is_joinable},
      ${row.pair}, ${row.owner_id}, ${row.rev}, ${row.head_rev}, ${row.created_at}, ${row.created_by})
    returning *`
  return inserted!
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
 * The apps that a user may read, by membership (members_user) or by default access (apps_open), as far as `which`, a
 * condition on `a`, a row of apps, holds for them.
 */
export function listReadable(sql: Sql, user: number, directories: number[], which: Fragment): Promise<ReadableApp[]> {
  return sql<ReadableApp[]>`${selectReadable(sql, user, directories, which)}`
}

/** The same as a part of another query. */
export function selectReadable(db: Db, user: number, directories: number[], which: Fragment): Fragment {
  return db`
    select a.id, a.type, m.hidden_id, m.access = 'admin' or a.owner_id = ${user} as is_admin,
      m.access in ('write', 'admin') or coalesce(a.owner_id = ${user}, false) as can_write
    from members m join apps a on a.id = m.app_id
    where m.user_id = ${user} and m.access <> 'none' and a.trashed_at is null and a.deleted_at is null and ${which}
    union all
    select a.id, a.type, null, coalesce(a.owner_id = ${user}, false), a.access = 'write' or coalesce(a.owner_id = ${user}, false)
    from apps a
    where a.access <> 'none' and a.trashed_at is null and a.deleted_at is null
      and (a.directory_id is null or a.directory_id = any(${directories}::bigint[]))
      and not exists (select from members m where m.app_id = a.id and m.user_id = ${user} and m.access is not null)
      and ${which}`
}

/** A condition on `a`, a row of apps: something was made in it. Somebody may be in any number of apps where nothing was. */
export function hasContent(sql: Sql): Fragment {
  return sql`a.made_count > 0`
}

interface NewMemberRow {
  app_id: number
  user_id: number
  access: Access
  joined_rev: number
}

export async function insertMembers(tx: Tx, rows: NewMemberRow[]): Promise<void> {
  if (rows.length > 0) await tx`insert into members ${tx(rows)}`
}

/** The pair whose private chat an app is; null for any other app. */
export async function findPairOf(db: Db, app: number): Promise<string | null> {
  const [row] = await db<{ pair: string | null }[]>`select pair from apps where id = ${app}`
  return row?.pair ?? null
}

/**
 * The private chat of two people. Waits for anybody who is making it at this moment; whoever asks first makes it.
 * Served by apps_pair.
 */
export async function findPair(tx: Db, pair: string): Promise<number | null> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${pair}, 7213002))`
  const [row] = await tx<{ id: number }[]>`
    select id from apps where pair = ${pair} and deleted_at is null and trashed_at is null`
  return row?.id ?? null
}

export interface AppFilter {
  by: Principal
  types: string[]
  directory: number | null
  member: number | null
  isArchived: boolean | null
  isUnread: boolean | null
  hasUid: boolean | null
  /** Only apps with one of these uids; null for all. */
  uids: string[] | null
}

/** One page of the ids of the apps that the caller is a member of, or of all for an API key, and how many there are. */
export async function listApps(
  sql: Db,
  filter: AppFilter,
  page: Page<OrderField>,
): Promise<{ ids: number[]; count: number }> {
  const q = page.q?.trim()
  const { isCalled } = q ? await toCalled(sql, q, filter.by) : { isCalled: sql`true` }
  const from = toSource(sql, filter, page, isCalled)
  if (q && !page.countOnly) {
    // Each may have been looked at, so that is done only once.
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
 * How many there are. Of all that somebody is in, the few are taken off that are not listed: 25 ms for 100,000 instead of
 * 95 to look at each app. Served by members_user and apps_hidden.
 */
function countOf(sql: Db, { by, ...filter }: AppFilter, page: Page, from: Fragment): Fragment {
  const isFiltered = Object.values(filter).some(
    value => value !== null && !(Array.isArray(value) && value.length === 0),
  )
  if (by.kind === 'key' || isFiltered || page.q?.trim() || page.tags.length > 0 || page.trashed !== false) {
    return sql`(select count(*) ${from})`
  }
  const isMine = sql`m.user_id = ${by.user} and m.access <> 'none'`
  return sql`(
    (select count(*) from members m where ${isMine})
    - (select count(*) from apps a join members m on m.app_id = a.id
      where (a.trashed_at is not null or a.deleted_at is not null) and ${isMine})
    - (select count(*) from members m join apps a on a.id = m.app_id
      where ${isMine} and m.is_removed and a.trashed_at is null and a.deleted_at is null and not ${isKept(sql)}))`
}

/** A condition on `a` and `m`: the user has not removed their copy, or something was written since. */
function isKept(sql: Db): Fragment {
  return sql`(not m.is_removed or coalesce(a.last_id, 0) > coalesce(m.hidden_id, 0))`
}

/** For a token: from the user's memberships outwards, by members_user. */
function toSource(sql: Db, filter: AppFilter, page: Page, isCalled: Fragment): Fragment {
  const { by } = filter
  const user = by.kind === 'user' ? by.user : deletedUser
  const newest = sql`(case when a.last_by = ${user} then a.prior_id else a.last_id end)`
  // An API key has read, archived and pinned nothing.
  const isUnread =
    by.kind === 'key'
      ? sql`false`
      : sql`(a.type in ('chat', 'chat_room', 'private_chat', 'agent_chat')
    and coalesce(${newest} > greatest(coalesce(m.marked_id, 0), coalesce(m.hidden_id, 0)), false))`
  const isArchived = sql`(m.archived_id is not null and coalesce(${newest}, 0) <= m.archived_id)`
  const own = by.kind === 'key' ? sql`true` : sql`m.access <> 'none' and ${isKept(sql)}`
  return sql`
    from apps a ${by.kind === 'key' ? sql`left` : sql``} join members m on m.app_id = a.id and m.user_id = ${user}
    where a.deleted_at is null and ${own} and ${isCalled}
      ${filter.types.length === 0 ? sql`` : sql`and a.type = any(${filter.types})`}
      ${filter.directory === null ? sql`` : sql`and a.directory_id = ${filter.directory}`}
      ${filter.hasUid === null ? sql`` : filter.hasUid ? sql`and a.uid is not null` : sql`and a.uid is null`}
      ${filter.uids === null ? sql`` : sql`and lower(a.uid) in (select lower(r) from unnest(${filter.uids}::text[]) r)`}
      ${filter.isUnread === null ? sql`` : sql`and ${isUnread} = ${filter.isUnread}`}
      ${filter.isArchived === null ? sql`` : sql`and ${isArchived} = ${filter.isArchived}`}
      ${page.tags.length === 0 ? sql`` : sql`and a.tags && ${page.tags}`}
      ${
        filter.member === null
          ? sql``
          : sql`and exists (
        select from members o where o.app_id = a.id and o.user_id = ${filter.member} and o.access is not null)`
      }
      ${toTrashed(sql, by, page.trashed)}`
}

/** Trashed apps show themselves to those who may restore them. */
function toTrashed(sql: Db, by: Principal, trashed: boolean | null): Fragment {
  if (trashed === false) return sql`and a.trashed_at is null`
  const isMine = by.kind === 'key' ? sql`true` : sql`(m.access = 'admin' or a.owner_id = ${by.user})`
  if (trashed === true) return sql`and a.trashed_at is not null and ${isMine}`
  return sql`and (a.trashed_at is null or ${isMine})`
}

function toOrder(sql: Db, order: OrderKey<OrderField>[], by: Principal): Fragment {
  const column = (field: OrderField) => {
    if (field === 'name') return sql`lower(${nameFor(sql, by)})`
    if (field === 'pinned_at') return sql`m.pinned_at`
    if (field === 'updated_at') return sql`coalesce(a.updated_at, a.created_at)`
    return sql`a.${sql(field)}`
  }
  const keys = order.map(({ field, descending }) => {
    const key = descending ? sql`${column(field)} desc` : column(field)
    // Apps that were never pinned come last in either direction. Said of the others, no index would be in that order.
    return field === 'pinned_at' ? sql`${key} nulls last` : key
  })
  return keys.reduce((all, key) => sql`${all}, ${key}`)
}
