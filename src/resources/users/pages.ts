import { listPeople, type Person } from '../../actors/people.ts'
import type { Principal } from '../../actors/principal.ts'
import { toReference } from '../../lib/reference.ts'
import { fromNearerEnd, orderBy } from '../../storage/order.ts'
import type { Page } from '../../storage/page.ts'
import type { Db, Fragment } from '../../storage/sql.ts'
import { toTsQuery } from '../../storage/words.ts'
import { fewLimit, findSight, isAmong, isVisibleTo, visibleTo } from './visible.ts'

export interface PersonFilter {
  by: Principal
  agent?: boolean | undefined
  system?: boolean | undefined
  autocomplete?: boolean | undefined
  /** References of directories that people must all be in. A user who is not in one of them finds nobody there. */
  directories: string[]
  /** Only those who follow this user, or are followed by it. */
  followersOf?: number
  followedBy?: number
}

export type PersonOrder = 'id' | 'name' | 'created_at'

const columns: Record<PersonOrder, string> = { id: 'u.id', name: 'u.sort_name', created_at: 'u.created_at' }

/** One page of people, and how many there are in all. */
export async function listPersons(
  db: Db,
  filter: PersonFilter,
  page: Page<PersonOrder>,
): Promise<{ count: number; persons: Person[] }> {
  const { by, agent, system, autocomplete, directories } = filter
  if (page.trashed === true && by.kind !== 'key') return { count: 0, persons: [] }
  const sets = [...toSets(db, filter), ...toFound(db, page.q, autocomplete ?? true)]
  const { where, isNarrow } = await restrictTo(db, sets)
  // Whoever is in a directory sees all who are in it.
  const { isSeen } = directories.length > 0 ? { isSeen: db`true` } : await toVisible(db, by, isNarrow)
  const { ids, count } = await listUserIds(
    db,
    db`${where} and u.id >= ${system === true ? 0 : 1} ${toOthers(db, by, page, agent)} and ${isSeen}`,
    page,
  )
  const persons = new Map((ids.length === 0 ? [] : await listPeople(db, ids)).map(person => [person.id, person]))
  // Whoever was deleted between the two is missing.
  return { count, persons: ids.flatMap(id => persons.get(id) ?? []) }
}

/** What a list is restricted to, each as a query for ids. */
function toSets(db: Db, { by, directories, followersOf, followedBy }: PersonFilter): Fragment[] {
  return [
    ...directories.map(directory => selectDirectory(db, directory, by)),
    ...(followersOf === undefined ? [] : [db`select user_id from follows where followed_id = ${followersOf}`]),
    ...(followedBy === undefined ? [] : [db`select followed_id from follows where user_id = ${followedBy}`]),
  ]
}

function selectDirectory(db: Db, directory: string, { kind, user }: Principal): Fragment {
  const { id, name } = toReference(directory)
  const isMember = db`exists (select from directory_members o where o.directory_id = d.id and o.user_id = ${user})`
  return db`
    select m.user_id from directory_members m join directories d on d.id = m.directory_id
    where ${id === null ? db`lower(d.name) = lower(${name})` : db`d.id = ${id}`}
      and ${kind === 'key' ? db`true` : isMember}`
}

/** Those in whom words are found; nothing where there is no word to look for. Served by users_search. */
export function toFound(db: Db, q: string | undefined, isPrefix: boolean): Fragment[] {
  const query = toTsQuery(q, isPrefix)
  return query === null ? [] : [db`select s.id from users s where s.search @@ ${query}::tsquery`]
}

/**
 * A condition on `u`: it is in each of the sets, queries for ids. `isNarrow`: one of them is small, so that the others
 * are asked for whom it holds, and so should be whatever else is.
 */
export async function restrictTo(db: Db, sets: Fragment[]): Promise<{ where: Fragment; isNarrow: boolean }> {
  let where = db`true`
  let isNarrow = false
  for (const ids of sets) {
    const [row] = await db<{ count: number }[]>`select count(*) as count from (${ids} limit ${fewLimit + 1}) s`
    const isFew = row!.count <= fewLimit
    where = db`${where} and ${isFew ? db`u.id = any(array(${ids}))` : isAmong(db, ids)}`
    isNarrow ||= isFew
  }
  return { where, isNarrow }
}

/** A condition on `u`: the caller can see it. */
export async function toVisible(db: Db, by: Principal, isNarrow: boolean): Promise<{ isSeen: Fragment }> {
  return { isSeen: isNarrow ? isVisibleTo(db, by) : visibleTo(db, by, await findSight(db, by)) }
}

/** Trashed people show themselves to API keys, which may restore them. */
export function toOthers(db: Db, { kind }: Principal, { trashed, tags }: Page, isAgent: boolean | undefined): Fragment {
  const hidesTrashed = trashed === false || kind !== 'key'
  return db`
    ${hidesTrashed ? db`and u.trashed_at is null` : trashed === null ? db`` : db`and u.trashed_at is not null`}
    ${isAgent === undefined ? db`` : db`and u.is_agent = ${isAgent}`}
    ${tags.length === 0 ? db`` : db`and u.tags && ${tags}::text[]`}`
}

/**
 * A page of the ids of users for whom a condition on `u` holds, and how many they are. Served by users_by_name,
 * users_by_creation or the primary key, walked from the nearer end.
 */
export async function listUserIds(
  db: Db,
  where: Fragment,
  page: Page<PersonOrder>,
): Promise<{ ids: number[]; count: number }> {
  const [total] = await db<{ count: number }[]>`select count(*) as count from users u where ${where}`
  const count = total!.count
  if (page.countOnly || page.skip >= count) return { ids: [], count }
  const walk = fromNearerEnd(page, count)
  const rows = await db<{ id: number }[]>`
    select u.id from users u where ${where}
    ${orderBy(db, walk.order, columns)}
    limit ${walk.limit} offset ${walk.offset}`
  return { ids: walk.restore(rows.map(({ id }) => id)), count }
}
