import { listUsersById, type User } from '../../../auth/user-cache.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { IdPage, Page } from '../../../api/page.ts'
import { inOrder } from '../../../postgres/order.ts'
import { countRows, type Db, type Fragment } from '../../../postgres/sql.ts'
import {
  asksNothing,
  findEverybody,
  listCrowd,
  toCrowds,
  type Crowd,
  type Gathered,
  type PersonFilter,
} from './crowd.ts'
import { toVisible } from './circle.ts'
import { hasWordsOf, listOften } from './named.ts'
import { listSeen } from './seen.ts'
import { listUserIds, toOthers, type PersonOrder } from './user-ids.ts'
import { fewLimit, isAmong } from '../visible.ts'

/** Pages of a set beyond this position come from a cached list of all ids. A guess. */
const deepFrom = 5_000

/** One page of users, and the total. */
export async function listPersons(
  db: Db,
  filter: PersonFilter,
  page: Page<PersonOrder>,
): Promise<{ count: number; persons: User[] }> {
  const { by } = filter
  if (page.trashed === true && by.kind !== 'key') return { count: 0, persons: [] }
  const crowds = toCrowds(db, filter)
  if (crowds.length === 1 && page.skip >= deepFrom && page.q === undefined) {
    const { ids, count } = await listOften(db, filter, page)
    return { count, persons: await listPeopleInOrder(db, ids) }
  }
  const whole = asksNothing(filter, page) ? await listWhole(db, crowds, filter, page) : null
  const { ids, count } = whole ?? (await listAmong(db, crowds, filter, page))
  return { count, persons: await listPeopleInOrder(db, ids) }
}

async function listPeopleInOrder(db: Db, ids: number[]): Promise<User[]> {
  return ids.length === 0 ? [] : inOrder(ids, await listUsersById(db, ids))
}

/** A page of a single set, or of all visible users, where there is no further filter; null where these are few. */
async function listWhole(db: Db, crowds: Crowd[], filter: PersonFilter, page: Page<PersonOrder>) {
  const { by, agent, system } = filter
  const crowd = await findWhole(db, crowds, filter)
  if (crowd !== null) return listCrowd(db, filter, crowd, page)
  const isPlain = crowds.length === 0 && by.kind === 'user' && system !== true && agent !== true
  return isPlain ? listSeen(db, by, agent, page) : null
}

/** The single set of which the caller sees all members; null where there is none, or several. */
async function findWhole(db: Db, crowds: Crowd[], { by, system, directories }: PersonFilter): Promise<Crowd | null> {
  if (crowds.length === 0) return system === true ? null : findEverybody(db, by)
  // A member of a directory sees all its members.
  const seesAll = directories.length > 0 || by.kind === 'key'
  return crowds.length === 1 && seesAll ? crowds[0]! : null
}

/** A page of the users in all of `crowds` whom the caller can see and who match. */
async function listAmong(db: Db, crowds: Gathered[], filter: PersonFilter, page: Page<PersonOrder>): Promise<IdPage> {
  const { by, agent, system, autocomplete, directories } = filter
  const agents = agent === true ? [db`select a.id from users a where a.is_agent`] : []
  const found = await restrictTo(db, toFound(db, page.q, autocomplete ?? true, by))
  const others = await restrictTo(db, [...crowds.map(({ ids }) => ids), ...agents])
  const isOften = page.q !== undefined && !found.isNarrow && !others.isNarrow && agents.length === 0
  if (isOften) return listOften(db, { ...filter, q: page.q! }, page)
  const isNarrow = found.isNarrow || others.isNarrow
  const { isSeen } = directories.length > 0 ? { isSeen: db`true` } : await toVisible(db, by, isNarrow)
  const where = db`${found.where} and ${others.where} and u.id >= ${system === true ? 0 : 1}`
  return listUserIds(db, db`${where} ${toOthers(db, by, page, agent)} and ${isSeen}`, page)
}

/** The users in whom the caller finds all words of `q`. Served by users_search and users_readable. */
export function toFound(db: Db, q: string | undefined, isPrefix: boolean, by: Principal): Fragment[] {
  return q === undefined ? [] : [db`select u.id from users u where ${hasWordsOf(db, q, isPrefix, by)}`]
}

/**
 * A condition on `u`: it is in each of the sets, which are queries for ids. `isNarrow`: one of them is small, so that
 * the others, and all further conditions, are checked for its members.
 */
export async function restrictTo(db: Db, sets: Fragment[]): Promise<{ where: Fragment; isNarrow: boolean }> {
  let where = db`true`
  let isNarrow = false
  for (const ids of sets) {
    const isFew = (await countRows(db, db`${ids} limit ${fewLimit + 1}`)) <= fewLimit
    where = db`${where} and ${isFew ? db`u.id = any(array(${ids}))` : isAmong(db, ids)}`
    isNarrow ||= isFew
  }
  return { where, isNarrow }
}
