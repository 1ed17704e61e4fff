import type { Principal } from '../../auth/principal.ts'
import { inOrder } from '../../postgres/order.ts'
import type { Db, Fragment } from '../../postgres/sql.ts'

/** Up to this many ids a query starts from them; with more, it goes through all users and looks each up. A guess. */
export const fewLimit = 2_000

/**
 * A condition on `u`, a row of users, for a caller who sees few users. Visible are: users who share a directory with the
 * caller, or, if the caller is in no directory, all users in none; members of the caller's apps that are not trashed;
 * agents in no directory; the caller and the special users.
 */
export function isOfFew(db: Db, user: number): Fragment {
  // As an array, because PostgreSQL may otherwise walk over all users to find the first ones.
  return db`(u.id = any(array(${circleOf(db, user)})) and ${isOpenAgent(db, user)})`
}

/**
 * A condition on `u`: its id is among the many that `ids` selects. They are gathered and hashed once; from a plain
 * subquery PostgreSQL would start with them.
 */
export function isAmong(db: Db, ids: Fragment): Fragment {
  return db`(u.id in (select unnest(array(${ids}))) is true)`
}

/**
 * A condition on `u`, one row of users or a few: the caller can see it. Checks for each whether it shares something
 * with the caller.
 */
export function isVisibleTo(db: Db, by: Principal): Fragment {
  if (by.kind === 'key') return db`true`
  return db`(exists (${circleOf(db, by.user, true)}) and ${isOpenAgent(db, by.user)})`
}

/**
 * A condition on `u`, a row of users: the user can see it, however many it sees. Checks each row by itself: 10 µs. The
 * scalar subqueries keep PostgreSQL from gathering all visible users first, who may be a million.
 */
export function isSeenOneByOne(db: Db, user: number, isAgent = db`u.is_agent`): Fragment {
  const isIn = (who: Fragment) => db`exists (select from directory_members d where d.user_id = ${who} limit 1)`
  const sharesDirectory = db`coalesce((
    select true from directory_members a join directory_members b on b.directory_id = a.directory_id
    where b.user_id = u.id and a.user_id = ${user} limit 1), false)`
  const sharesApp = db`coalesce((
    select true from members b join members a on a.app_id = b.app_id join apps p on p.id = b.app_id
    where b.user_id = u.id and a.user_id = ${user} and a.access <> 'none' and b.access <> 'none'
      and p.trashed_at is null and p.deleted_at is null limit 1), false)`
  return db`(
    u.id = any(array[${user}, 0, -1]::bigint[])
    or (${isAgent} or not ${isIn(db`${user}`)}) and not coalesce((
      select true from directory_members d where d.user_id = u.id limit 1), false)
    or ${sharesDirectory}
    or not ${isAgent} and ${sharesApp})`
}

/** The ids of users visible to a user, also of agents that are restricted to directories; some repeatedly. */
function circleOf(db: Db, user: number, isOnlyU = false): Fragment {
  const only = (column: string) => (isOnlyU ? db`and ${db(column)} = u.id` : db``)
  return db`
    select o.id from users o
    where o.id = any(array[${user}, 0, -1]::bigint[]) ${only('o.id')}
    union all
    ${matesOf(db, user, isOnlyU)}
    union all
    select o.id from users o
    where o.is_agent and not exists (select from directory_members d where d.user_id = o.id) ${only('o.id')}
    union all
    select o.id from users o
    where not exists (select from directory_members d where d.user_id = o.id)
      and not exists (select from directory_members d where d.user_id = ${user}) ${only('o.id')}`
}

/** The ids of users with a common directory or app; some repeatedly. */
export function matesOf(db: Db, user: number, isOnlyU = false): Fragment {
  const only = isOnlyU ? db`and b.user_id = u.id` : db``
  return db`
    select b.user_id from directory_members a join directory_members b on b.directory_id = a.directory_id
    where a.user_id = ${user} ${only}
    union all
    select b.user_id from members a join apps p on p.id = a.app_id join members b on b.app_id = a.app_id
    where a.user_id = ${user} and a.access <> 'none' and b.access <> 'none'
      and p.trashed_at is null and p.deleted_at is null ${only}`
}

/**
 * `u` is no agent, or an agent that is visible to the user: one with directories is so to their members only, even
 * where it is in an app.
 */
function isOpenAgent(db: Db, user: number): Fragment {
  return db`(
    not u.is_agent or u.id = ${user} or not exists (select from directory_members d where d.user_id = u.id)
    or exists (
      select from directory_members a join directory_members b on b.directory_id = a.directory_id
      where a.user_id = ${user} and b.user_id = u.id))`
}

/**
 * All users whom the caller cannot see, who are all in directories. Null where more than a few users are in some, or
 * the caller is, who then sees only users with a common directory or app.
 */
export async function listHidden(db: Db, by: Principal): Promise<number[] | null> {
  if (by.kind === 'key') return []
  const [row] = await db<{ is_member: boolean; count: number }[]>`
    select exists (select from directory_members d where d.user_id = ${by.user}) as is_member,
      (select count(*) from (select from directory_members limit ${fewLimit + 1}) d) as count`
  if (row!.is_member || row!.count > fewLimit) return null
  if (row!.count === 0) return []
  const rows = await db<{ id: number }[]>`
    select u.id from users u
    where u.id = any(array(select d.user_id from directory_members d)) and not ${isSeenOneByOne(db, by.user)}`
  return rows.map(({ id }) => id)
}

/** The users among `ids` whom the caller cannot add to anything: invisible or trashed ones. */
export async function listInvisible(db: Db, by: Principal, ids: number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await db<{ id: number }[]>`
    select u.id from users u
    where u.id = any(${ids}::bigint[]) and not (u.trashed_at is null and ${isVisibleTo(db, by)})`
  return rows.map(({ id }) => id)
}

/** The users among `ids`, a cached result, whom the caller can see now, in order. */
export async function listStillSeen(db: Db, by: Principal, ids: number[]): Promise<number[]> {
  if (by.kind === 'key' || ids.length === 0) return ids
  const rows = await db<{ id: number }[]>`
    select u.id from users u
    where u.id = any(${ids}::bigint[]) and u.trashed_at is null and ${isSeenOneByOne(db, by.user)}`
  return inOrder(ids, rows).map(({ id }) => id)
}

/** For each user, the users among `others` with a common app that is not trashed; no entry where there is none. */
export async function listMates(db: Db, users: number[], others: number[]): Promise<Map<number, number[]>> {
  const rows = await db<{ user: number; others: number[] }[]>`
    select a.user_id as "user", array_agg(distinct b.user_id) as others
    from members a join apps p on p.id = a.app_id join members b on b.app_id = a.app_id
    where a.user_id = any(${users}::bigint[]) and b.user_id = any(${others}::bigint[])
      and a.access <> 'none' and b.access <> 'none' and p.trashed_at is null and p.deleted_at is null
    group by a.user_id`
  return new Map(rows.map(({ user, others }) => [user, others]))
}
