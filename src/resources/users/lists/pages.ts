import { listPeople, type Person } from '../../../auth/user-cache.ts'
import type { Principal } from '../../../auth/principal.ts'
import { toReference } from '../../../api/reference.ts'
import type { Page } from '../../../api/page.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'
import { asksNothing, findEverybody, listCrowd, type Crowd } from './crowd.ts'
import { toVisible } from './extent.ts'
import { hasWordsOf, listOften } from './named.ts'
import { listSeen } from './seen.ts'
import { listUserIds, toOthers, type PersonOrder } from './user-ids.ts'
import { fewLimit, isAmong } from '../visible.ts'

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

/** People who are found from what they belong to. */
type Gathered = Crowd & { ids: Fragment }

/** One page of people, and how many there are in all. */
export async function listPersons(
  db: Db,
  filter: PersonFilter,
  page: Page<PersonOrder>,
): Promise<{ count: number; persons: Person[] }> {
  const { by } = filter
  if (page.trashed === true && by.kind !== 'key') return { count: 0, persons: [] }
  const crowds = toCrowds(db, filter)
  const crowd = asksNothing(filter, page) ? await findWhole(db, crowds, filter) : null
  const whole = crowd === null ? await listAllSeen(db, crowds, filter, page) : await listCrowd(db, filter, crowd, page)
  const { ids, count } = whole ?? (await listAmong(db, crowds, filter, page))
  const persons = new Map((ids.length === 0 ? [] : await listPeople(db, ids)).map(person => [person.id, person]))
  // Whoever was deleted between the two is missing.
  return { count, persons: ids.flatMap(id => persons.get(id) ?? []) }
}

/** Of all whom a user can see, where nothing else is asked; null for anything else. */
async function listAllSeen(db: Db, crowds: Crowd[], { by, agent, system }: PersonFilter, page: Page<PersonOrder>) {
  const isPlain = crowds.length === 0 && by.kind === 'user' && system !== true && agent !== true
  return isPlain && asksNothing({ by, agent }, page) ? listSeen(db, by, agent, page) : null
}

/** The one crowd of which the caller sees all; null where there is none, or several. */
async function findWhole(db: Db, crowds: Crowd[], { by, system, directories }: PersonFilter): Promise<Crowd | null> {
  if (crowds.length === 0) return system === true ? null : findEverybody(db, by)
  // Whoever is in a directory sees all who are in it.
  const seesAll = directories.length > 0 || by.kind === 'key'
  return crowds.length === 1 && seesAll ? crowds[0]! : null
}

/** Of those who belong to all of `crowds`, a page of those whom the caller can see and looks for. */
async function listAmong(
  db: Db,
  crowds: Gathered[],
  filter: PersonFilter,
  page: Page<PersonOrder>,
): Promise<{ ids: number[]; count: number }> {
  const { by, agent, system, autocomplete, directories } = filter
  const agents = agent === true ? [db`select a.id from users a where a.is_agent`] : []
  const found = await restrictTo(db, toFound(db, page.q, autocomplete ?? true, by))
  const isOften = page.q !== undefined && !found.isNarrow && crowds.length === 0 && agents.length === 0
  if (isOften) return listOften(db, { ...filter, q: page.q! }, page)
  const others = await restrictTo(db, [...crowds.map(({ ids }) => ids), ...agents])
  const isNarrow = found.isNarrow || others.isNarrow
  const { isSeen } = directories.length > 0 ? { isSeen: db`true` } : await toVisible(db, by, isNarrow)
  const where = db`${found.where} and ${others.where} and u.id >= ${system === true ? 0 : 1}`
  return listUserIds(db, db`${where} ${toOthers(db, by, page, agent)} and ${isSeen}`, page)
}

/** What a list is restricted to. */
function toCrowds(db: Db, { by, directories, followersOf, followedBy }: PersonFilter): Gathered[] {
  const crowds = directories.map(directory => toMembers(db, directory, by))
  if (followersOf !== undefined) {
    const from = db`from follows f where f.followed_id = ${followersOf}`
    crowds.push({ ids: db`select f.user_id ${from}`, isIn: db`(select true ${from} and f.user_id = u.id)` })
  }
  if (followedBy !== undefined) {
    const from = db`from follows f where f.user_id = ${followedBy}`
    crowds.push({ ids: db`select f.followed_id ${from}`, isIn: db`(select true ${from} and f.followed_id = u.id)` })
  }
  return crowds
}

function toMembers(db: Db, directory: string, { kind, user }: Principal): Gathered {
  const { id, name } = toReference(directory)
  const isMember = db`exists (select from directory_members o where o.directory_id = d.id and o.user_id = ${user})`
  const from = db`
    from directory_members m join directories d on d.id = m.directory_id
    where ${id === null ? db`lower(d.name) = lower(${name})` : db`d.id = ${id}`}
      and ${kind === 'key' ? db`true` : isMember}`
  return { ids: db`select m.user_id ${from}`, isIn: db`(select true ${from} and m.user_id = u.id)` }
}

/** Those in whom the caller finds all words of `q`. Served by users_search and users_readable. */
export function toFound(db: Db, q: string | undefined, isPrefix: boolean, by: Principal): Fragment[] {
  return q === undefined ? [] : [db`select u.id from users u where ${hasWordsOf(db, q, isPrefix, by)}`]
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
