import type { Principal } from '../../../auth/principal.ts'
import { toReference } from '../../../api/reference.ts'
import { fromNearerEnd } from '../../../postgres/order.ts'
import type { IdPage, Page } from '../../../api/page.ts'
import { countRows, type Db, type Fragment } from '../../../postgres/sql.ts'
import { selectUserIds, toOthers, type PersonOrder } from './user-ids.ts'
import { fewLimit, isAmong, listHidden } from '../visible.ts'

/** A set of users: the members of a directory or app, or the followers of a user. */
export interface Crowd {
  /** A query for their ids; absent where they are nearly all users, so that walking over all is faster. */
  ids?: Fragment
  /** A condition on `u`, a row of users: it is in the set. A subquery, which PostgreSQL evaluates for each row. */
  isIn: Fragment
  /** The number of users; absent where it is not stored. */
  size?: number
}

/** A set of users that can be listed by its own index. */
export type Gathered = Crowd & { ids: Fragment }

/** The sets that a list is restricted to. */
export interface Belonging {
  /** Directories that all listed users must be in. Where the caller is not in one of them, the list is empty. */
  directories: string[]
  /** Only followers of this user, or only users whom it follows. */
  followersOf?: number
  followedBy?: number
}

/** What a list of users is restricted to. */
export interface PersonFilter extends Belonging {
  by: Principal
  /** true: only agents; false: only users who are no agents. */
  agent?: boolean | undefined
  system?: boolean | undefined
  autocomplete?: boolean | undefined
}

type Asked = Pick<PersonFilter, 'by' | 'agent'>

/** The set of all users but a few hidden ones. */
export interface Everybody {
  isIn: Fragment
  size: number
  hidden: number[]
}

/** The cost of checking a user, in units of gathering one. Measured. */
const askingCost = 3

/** True where no filter requires a look at each user. */
export function asksNothing({ agent }: Asked, page: Page<PersonOrder>): boolean {
  return agent !== true && page.q === undefined && page.tags.length === 0 && page.trashed !== true
}

/**
 * A page of a set where the list `asksNothing`; null where the set is small. The total comes without going through the
 * set: agents and trashed users are few. So do pages near an end: 3 ms instead of 100 for the first of 100,000 members.
 */
export async function listCrowd(
  db: Db,
  asked: Asked,
  { ids, isIn, size }: Crowd,
  page: Page<PersonOrder>,
): Promise<IdPage | null> {
  const all = size ?? (await countRows(db, ids ?? db`select u.id from users u where ${isIn}`))
  if (all <= fewLimit) return null
  const count = all - (await countOthers(db, asked, { ids, isIn, size: all }, page))
  if (page.countOnly || page.skip >= count) return { ids: [], count }
  const { offset, limit } = fromNearerEnd(page, count)
  const passed = ((offset + limit) * (await estimateUsers(db))) / count
  const isWalked = ids === undefined || passed * askingCost < all
  const where = db`${isWalked ? isIn : isAmong(db, ids)} ${toOthers(db, asked.by, page, asked.agent)}`
  return { ids: await selectUserIds(db, where, page, count), count }
}

/**
 * The users whom the caller can see, as all but a few. Null where there are few users, or where the caller may see
 * considerably fewer: a user in a directory sees users with a common directory or app, which would have to be checked
 * for each.
 */
export async function findEverybody(db: Db, by: Principal): Promise<Everybody | null> {
  const all = await countAll(db)
  if (all <= fewLimit) return null
  const hidden = await listHidden(db, by)
  if (hidden === null) return null
  const isSeen = hidden.length === 0 ? db`` : db`and u.id <> all(${hidden}::bigint[])`
  return { isIn: db`u.id >= 1 ${isSeen}`, size: all - hidden.length, hidden }
}

/** The number of users and agents, trashed ones included. */
export async function countAll(db: Db): Promise<number> {
  const [row] = await db<{ count: number }[]>`select sum(count)::bigint as count from user_counts`
  return row!.count
}

/**
 * The number of users of a set that a page leaves out. Served by users_trashed and users_agents. Few of these are looked up
 * in the set; where they are many, it is gathered instead: to look 100,000 users in the trash up among 100,000 members read
 * 400,000 pages, and to gather these reads 36,000.
 */
async function countOthers(
  db: Db,
  { by, agent }: Asked,
  { ids, isIn, size }: { ids: Fragment | undefined; isIn: Fragment; size: number },
  { trashed }: Page,
): Promise<number> {
  const conditions = [
    ...(trashed === null && by.kind === 'key' ? [] : [db`u.trashed_at is not null`]),
    ...(agent === false ? [db`u.is_agent`] : []),
  ]
  if (conditions.length === 0) return 0
  const any = conditions.reduce((one, other) => db`${one} or ${other}`)
  const few = Math.ceil(size / askingCost)
  const isMany = ids !== undefined && (await countRows(db, db`select from users u where ${any} limit ${few}`)) === few
  const isInSet = isMany ? isAmong(db, ids) : isIn
  const [row] = await db<{ count: number }[]>`select count(*) as count from users u where (${any}) and ${isInSet}`
  return row!.count
}

/** The number of users by PostgreSQL's statistics. */
async function estimateUsers(db: Db): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select greatest(reltuples, 0)::bigint as count from pg_class where oid = 'users'::regclass`
  return row!.count
}

/** The sets that a list is restricted to. */
export function toCrowds(
  db: Db,
  { by, directories, followersOf, followedBy }: Belonging & { by: Principal },
): Gathered[] {
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
