import { deletedUser, type Principal } from '../../../auth/principal.ts'
import type { OrderKey, Page } from '../../../api/page.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'
import { nameFor, type Called } from './names.ts'

export const orderFields = ['id', 'name', 'created_at', 'updated_at', 'rev', 'pinned_at'] as const
export type OrderField = (typeof orderFields)[number]

export interface AppFilter {
  by: Principal
  types: string[]
  directory: number | null
  member: number | null
  isArchived: boolean | null
  isUnread: boolean | null
  hasUid: boolean | null
  /** Only apps with one of these uids; null: all. */
  uids: string[] | null
}

/** Apps `a` joined with the caller's membership `m`, which an API key has none of. */
function toJoin(sql: Db, { by, directory, uids, hasUid }: AppFilter, isFew: boolean): Fragment {
  if (by.kind === 'key') return sql`apps a left join members m on m.app_id = a.id and m.user_id = ${deletedUser}`
  if (isFew || directory !== null || uids !== null || hasUid !== null)
    return sql`apps a join members m on m.app_id = a.id and m.user_id = ${by.user}`
  return joinOwn(sql, by.user)
}

/**
 * All apps of a user. Not knowing their number, PostgreSQL would descend the index of apps for each: 100,000 pages for
 * 20,000. Passed as an array they are walked to along the index, and a full join, which is kept from becoming another
 * kind, is never a nested loop. Memberships are read from members_user alone, as far as it has the columns.
 */
function joinOwn(sql: Db, user: number): Fragment {
  return sql`(
      select a.*, m.app_id as own_app_id, m.access as own_access, m.is_removed as own_is_removed,
        m.hidden_id as own_hidden_id, m.marked_id as own_marked_id, m.archived_id as own_archived_id,
        m.pinned_at as own_pinned_at
      from (
        select * from apps
        where id = any(array(select app_id from members where user_id = ${user} and access <> 'none'))
      ) a
      full join (select * from members where user_id = ${user}) m on m.app_id = a.id
      offset 0
    ) a cross join lateral (
      select a.own_app_id as app_id, a.own_access as access, a.own_is_removed as is_removed, a.own_hidden_id as hidden_id,
        a.own_marked_id as marked_id, a.own_archived_id as archived_id, a.own_pinned_at as pinned_at
    ) m`
}

/** For a token: starts from the user's memberships. */
export function toSource(sql: Db, filter: AppFilter, page: Page, { isCalled, isFew }: Called): Fragment {
  const { by } = filter
  const user = by.kind === 'user' ? by.user : deletedUser
  // An API key has read nothing.
  const isUnread = by.kind === 'key' ? sql`false` : isUnreadBy(sql, user)
  const isArchived = isArchivedBy(sql, user)
  const own = by.kind === 'key' ? sql`true` : sql`a.id is not null and m.access <> 'none' and ${isKept(sql)}`
  return sql`
    from ${toJoin(sql, filter, isFew)}
    where a.deleted_at is null and ${own} and ${isCalled}
      ${filter.types.length === 0 ? sql`` : sql`and a.type = any(${filter.types})`}
      ${filter.directory === null ? sql`` : sql`and a.directory_id = ${filter.directory}`}
      ${filter.hasUid === null ? sql`` : filter.hasUid ? sql`and a.uid is not null` : sql`and a.uid is null`}
      ${filter.uids === null ? sql`` : sql`and fold_name(a.uid) in (select fold_name(r) from unnest(${filter.uids}::text[]) r)`}
      ${filter.isUnread === null ? sql`` : sql`and ${isUnread} = ${filter.isUnread}`}
      ${filter.isArchived === null ? sql`` : sql`and ${isArchived} = ${filter.isArchived}`}
      ${page.tags.length === 0 ? sql`` : sql`and fold_names(a.tags) && fold_names(${page.tags}::text[])`}
      ${
        filter.member === null
          ? sql``
          : sql`and exists (
        select from members o where o.app_id = a.id and o.user_id = ${filter.member} and o.access is not null)`
      }
      ${toTrashed(sql, by, page.trashed)}`
}

/** Trashed apps are visible to users who may restore them. */
function toTrashed(sql: Db, by: Principal, trashed: boolean | null): Fragment {
  if (trashed === false) return sql`and a.trashed_at is null`
  const isMine = by.kind === 'key' ? sql`true` : sql`(m.access = 'admin' or a.owner_id = ${by.user})`
  if (trashed === true) return sql`and a.trashed_at is not null and ${isMine}`
  return sql`and (a.trashed_at is null or ${isMine})`
}

export function toOrder(sql: Db, order: OrderKey<OrderField>[], by: Principal): Fragment {
  const column = (field: OrderField) => {
    if (field === 'name') return sql`fold_name(${nameFor(sql, by)})`
    if (field === 'pinned_at') return sql`m.pinned_at`
    if (field === 'updated_at') return sql`coalesce(a.updated_at, a.created_at)`
    return sql`a.${sql(field)}`
  }
  const keys = order.map(({ field, descending }) => {
    const key = descending ? sql`${column(field)} desc` : column(field)
    // Apps that were never pinned come last in either direction. For other orders, `nulls last` would match no index.
    return field === 'pinned_at' ? sql`${key} nulls last` : key
  })
  return keys.reduce((all, key) => sql`${all}, ${key}`)
}

// The rules of unread.ts as conditions on `a`, an app, and `m`, a user's relation to it.

/** `!isHidden`. */
function isKept(sql: Db): Fragment {
  return sql`(not m.is_removed or coalesce(a.last_id, 0) > coalesce(m.hidden_id, 0))`
}

/** `newestByOthers` as an expression. */
function newestByOthers(sql: Db, user: number): Fragment {
  return sql`(case when a.last_by = ${user} then a.prior_id else a.last_id end)`
}

/** `isUnread`. */
function isUnreadBy(sql: Db, user: number): Fragment {
  return sql`(a.type in ('chat', 'chat_room', 'private_chat', 'agent_chat')
    and coalesce(${newestByOthers(sql, user)} > greatest(coalesce(m.marked_id, 0), coalesce(m.hidden_id, 0)), false))`
}

/** `isArchived`. */
function isArchivedBy(sql: Db, user: number): Fragment {
  return sql`(m.archived_id is not null and coalesce(${newestByOthers(sql, user)}, 0) <= m.archived_id)`
}
