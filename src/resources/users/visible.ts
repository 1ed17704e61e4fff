import type { User } from '../../auth/user-cache.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Db, Fragment } from '../../postgres/sql.ts'

// Which users a user sees: itself and the special users; members of its directories, or, if it is in none, all people in
// none; agents in no directory; and people with a common app that is not in the trash. An agent in directories is seen
// by the members of these alone, even where it is in an app. API keys see all.

/** A condition on `u`, a row of users: the caller can see it. Checks each row by itself: 10 µs. */
export function isVisibleTo(db: Db, by: Principal): Fragment {
  return by.kind === 'key' ? db`true` : db`exists (${selectVisible(db, by.user, db`u.id`)})`
}

/** A query for the ids of all users whom a user sees, some repeatedly; with `only` for one of them. */
export function selectVisible(db: Db, user: number, only?: Fragment): Fragment {
  const isOnly = (column: Fragment) => (only === undefined ? db`` : db`and ${column} = ${only}`)
  const isInNone = (who: Fragment) => db`not exists (select from directory_members d where d.user_id = ${who})`
  return db`
    select o.id from users o where o.id = any(array[${user}, 0, -1]::bigint[]) ${isOnly(db`o.id`)}
    union all
    select b.user_id from directory_members a join directory_members b on b.directory_id = a.directory_id
    where a.user_id = ${user} ${isOnly(db`b.user_id`)}
    union all
    select o.id from users o where o.is_agent and ${isInNone(db`o.id`)} ${isOnly(db`o.id`)}
    union all
    select o.id from users o where ${isInNone(db`o.id`)} and ${isInNone(db`${user}`)} ${isOnly(db`o.id`)}
    union all
    select b.user_id from members a join apps p on p.id = a.app_id join members b on b.app_id = a.app_id
    where a.user_id = ${user} and a.access <> 'none' and b.access <> 'none'
      and p.trashed_at is null and p.deleted_at is null
      and not exists (select from users o where o.id = b.user_id and o.is_agent) ${isOnly(db`b.user_id`)}`
}

/** True where all users with a viewer's directories see a person, whatever apps they are in. */
export function isShownByDirectories(viewer: User, person: User): boolean {
  if (person.directories.length === 0) return person.is_agent || viewer.directories.length === 0
  return person.directories.some(({ id }) => viewer.directories.some(own => own.id === id))
}

/** For each user, the people among `others` with a common app that is not trashed; no entry where there is none. */
export async function listMates(db: Db, users: number[], others: number[]): Promise<Map<number, number[]>> {
  const rows = await db<{ user: number; others: number[] }[]>`
    select a.user_id as "user", array_agg(distinct b.user_id) as others
    from members a join apps p on p.id = a.app_id join members b on b.app_id = a.app_id
    where a.user_id = any(${users}::bigint[]) and b.user_id = any(${others}::bigint[])
      and a.access <> 'none' and b.access <> 'none' and p.trashed_at is null and p.deleted_at is null
    group by a.user_id`
  return new Map(rows.map(({ user, others }) => [user, others]))
}

/** The users among `ids` whom the caller cannot add to anything: invisible or trashed ones. */
export async function listInvisible(db: Db, by: Principal, ids: number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await db<{ id: number }[]>`
    select u.id from users u
    where u.id = any(${ids}::bigint[]) and not (u.trashed_at is null and ${isVisibleTo(db, by)})`
  return rows.map(({ id }) => id)
}
