import type { Principal } from '../../actors/principal.ts'
import { fromNearerEnd } from '../../storage/order.ts'
import type { Page } from '../../storage/page.ts'
import type { Db, Fragment } from '../../storage/sql.ts'
import { selectUserIds, toOthers, type PersonOrder } from './user-ids.ts'
import { fewLimit, isAmong } from './visible.ts'

/** People who belong to something: its members, or whoever follows somebody. */
export interface Crowd {
  /** A query for their ids. */
  ids: Fragment
  /** A condition on `u`, a row of users: it is one of them. A subquery, which PostgreSQL answers for each by itself. */
  isIn: Fragment
  /** How many there are, where that is kept. */
  size?: number | undefined
}

/** Looking somebody up takes this many times what it takes to gather one of the crowd. Measured. */
const askingCost = 3

/**
 * A page of the ids of all who belong to something, and how many they are; null where these are few, or something else
 * is asked of them as well. They are not gone through to count them: few people are in the trash. Nor are they for pages
 * near an end: 3 ms instead of 100 for the first of 100,000 members.
 */
export async function listCrowd(
  db: Db,
  by: Principal,
  { ids, isIn, size }: Crowd,
  page: Page<PersonOrder>,
): Promise<{ ids: number[]; count: number } | null> {
  if (page.q !== undefined || page.tags.length > 0 || page.trashed === true) return null
  const all = size ?? (await countIds(db, ids))
  if (all <= fewLimit) return null
  const isWhole = by.kind === 'key' && page.trashed === null
  const count = isWhole ? all : all - (await countTrashed(db, isIn))
  if (page.countOnly || page.skip >= count) return { ids: [], count }
  const { offset, limit } = fromNearerEnd(page, count)
  const passed = ((offset + limit) * (await estimateUsers(db))) / count
  const where = db`${passed * askingCost < all ? isIn : isAmong(db, ids)} ${toOthers(db, by, page, undefined)}`
  return { ids: await selectUserIds(db, where, page, count), count }
}

async function countIds(db: Db, ids: Fragment): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from (${ids}) s`
  return row!.count
}

/** Served by users_trashed. */
async function countTrashed(db: Db, isIn: Fragment): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from users u where u.trashed_at is not null and ${isIn}`
  return row!.count
}

/** How many users there are, as far as PostgreSQL knows. */
async function estimateUsers(db: Db): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select greatest(reltuples, 0)::bigint as count from pg_class where oid = 'users'::regclass`
  return row!.count
}
