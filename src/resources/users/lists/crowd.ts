import type { Principal } from '../../../auth/principal.ts'
import { toReference } from '../../../api/reference.ts'
import { fromNearerEnd } from '../../../postgres/order.ts'
import type { Page } from '../../../api/page.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'
import { selectUserIds, toOthers, type PersonOrder } from './user-ids.ts'
import { fewLimit, isAmong, listHidden } from '../visible.ts'

/** People who belong to something: its members, or whoever follows somebody. */
export interface Crowd {
  /** A query for their ids; absent where they are nearly all users, so that it pays to walk over all. */
  ids?: Fragment
  /** A condition on `u`, a row of users: it is one of them. A subquery, which PostgreSQL answers for each by itself. */
  isIn: Fragment
  /** How many there are; absent where that is not kept. */
  size?: number
}

/** People who are found from what they belong to. */
export type Gathered = Crowd & { ids: Fragment }

/** What people belong to who are listed. */
export interface Belonging {
  /** References of directories that people must all be in. For a caller who is not in one of them, the list is empty. */
  directories: string[]
  /** Only those who follow this user, or are followed by it. */
  followersOf?: number
  followedBy?: number
}

/** The crowd of all users but a few, who are not seen. */
export interface Everybody {
  isIn: Fragment
  size: number
  hidden: number[]
}

interface Asked {
  by: Principal
  /** Agents, or people, alone. */
  agent?: boolean | undefined
}

/** Looking somebody up takes this many times what it takes to gather one of the crowd. Measured. */
const askingCost = 3

/** True where nothing is asked of people that all of them would have to be looked at for. */
export function asksNothing({ agent }: Asked, page: Page<PersonOrder>): boolean {
  return agent !== true && page.q === undefined && page.tags.length === 0 && page.trashed !== true
}

/**
 * A page of the ids of all who belong to something, and how many they are; null where these are few, or `asksNothing`
 * is false. They are not gone through to count them: agents, and people in the trash, are few. Nor are they for pages
 * near an end: 3 ms instead of 100 for the first of 100,000 members.
 */
export async function listCrowd(
  db: Db,
  asked: Asked,
  { ids, isIn, size }: Crowd,
  page: Page<PersonOrder>,
): Promise<{ ids: number[]; count: number } | null> {
  if (!asksNothing(asked, page)) return null
  const all = size ?? (await countIds(db, ids ?? db`select u.id from users u where ${isIn}`))
  if (all <= fewLimit) return null
  const count = all - (await countOthers(db, asked, isIn, page))
  if (page.countOnly || page.skip >= count) return { ids: [], count }
  const { offset, limit } = fromNearerEnd(page, count)
  const passed = ((offset + limit) * (await estimateUsers(db))) / count
  const isWalked = ids === undefined || passed * askingCost < all
  const where = db`${isWalked ? isIn : isAmong(db, ids)} ${toOthers(db, asked.by, page, asked.agent)}`
  return { ids: await selectUserIds(db, where, page, count), count }
}

/**
 * Everybody whom the caller can see. Null where users are few, and where that is less than nearly everybody, or may be:
 * somebody in a directory sees those who share something, and of many in directories it would have to be found out for
 * each.
 */
export async function findEverybody(db: Db, by: Principal): Promise<Everybody | null> {
  const all = await countAll(db)
  if (all <= fewLimit) return null
  const hidden = await listHidden(db, by)
  if (hidden === null) return null
  const isSeen = hidden.length === 0 ? db`` : db`and u.id <> all(${hidden}::bigint[])`
  return { isIn: db`u.id >= 1 ${isSeen}`, size: all - hidden.length, hidden }
}

/** How many users and agents there are, in the trash or not. */
export async function countAll(db: Db): Promise<number> {
  const [row] = await db<{ count: number }[]>`select sum(count)::bigint as count from user_counts`
  return row!.count
}

async function countIds(db: Db, ids: Fragment): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from (${ids}) s`
  return row!.count
}

/** Those of a crowd whom a page leaves out. Served by users_trashed and users_agents. */
async function countOthers(db: Db, { by, agent }: Asked, isIn: Fragment, { trashed }: Page): Promise<number> {
  const isLeftOut = [
    ...(trashed === null && by.kind === 'key' ? [] : [db`u.trashed_at is not null`]),
    ...(agent === false ? [db`u.is_agent`] : []),
  ]
  if (isLeftOut.length === 0) return 0
  const any = isLeftOut.reduce((one, other) => db`${one} or ${other}`)
  const [row] = await db<{ count: number }[]>`select count(*) as count from users u where (${any}) and ${isIn}`
  return row!.count
}

/** How many users there are, as far as PostgreSQL knows. */
async function estimateUsers(db: Db): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select greatest(reltuples, 0)::bigint as count from pg_class where oid = 'users'::regclass`
  return row!.count
}

/** What a list is restricted to. */
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
