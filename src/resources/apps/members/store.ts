import type { Principal } from '../../../auth/principal.ts'
import type { IdPage, Page } from '../../../api/page.ts'
import { cachedQuery } from '../../../postgres/cached-query.ts'
import { inOrder } from '../../../postgres/order.ts'
import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import { asksNothing, findEverybody, listCrowd, type Crowd } from '../../users/lists/crowd.ts'
import { toVisible } from '../../users/lists/circle.ts'
import { restrictTo, toFound } from '../../users/lists/pages.ts'
import { listUserIds, selectUserIds, toOthers } from '../../users/lists/user-ids.ts'
import { fewLimit, isAmong } from '../../users/visible.ts'

export const orderFields = ['name', 'id', 'created_at'] as const
export type OrderField = (typeof orderFields)[number]

export interface MemberFilter {
  app: number
  /** The number of its members. */
  memberCount: number
  by: Principal
  /**
   * true: members; false: users who could become members; null: both. Users with access by a directory or the app's
   * default are included where the caller can see them: otherwise an app that is open to all would list everyone.
   */
  isMember: boolean | null
  isAgent: boolean | undefined
  withSystem: boolean
  isPrefix: boolean
}

/** A page of an app's members or candidates. */
export async function listMemberIds(sql: Sql, filter: MemberFilter, page: Page<OrderField>): Promise<IdPage> {
  const { app, memberCount, by, isMember, isAgent, withSystem, isPrefix } = filter
  if (page.trashed === true && by.kind !== 'key') return { ids: [], count: 0 }
  const ofApp = sql`from members m where m.app_id = ${app} and m.access is not null`
  const isOne = sql`${ofApp} and m.user_id = u.id`
  const members = sql`select m.user_id ${ofApp}`
  const asked = { by, agent: isAgent }
  const isCrowd = isMember === true && !withSystem && memberCount > fewLimit
  if (isCrowd && page.q === undefined && page.skip >= deepFrom) {
    const gathered = await listGathered(sql, filter, page)
    if (gathered !== null) return gathered
  }
  if (!withSystem && asksNothing(asked, page)) {
    const all = { ids: members, isIn: sql`(select true ${isOne})`, size: memberCount }
    const crowd = isMember ? all : await findCandidates(sql, filter, sql`exists (select ${isOne})`)
    const whole = crowd === null ? null : await listCrowd(sql, asked, crowd, page)
    if (whole !== null) return whole
  }
  const found = await restrictTo(sql, toFound(sql, page.q, isPrefix, by))
  const gathered = isCrowd && page.q !== undefined && !found.isNarrow ? await listGathered(sql, filter, page) : null
  if (gathered !== null) return gathered
  const isIn = found.isNarrow
    ? sql`exists (select ${isOne})`
    : isMember
      ? (await restrictTo(sql, [members])).where
      : isAmong(sql, members)
  const { isSeen } = isMember ? { isSeen: sql`false` } : await toVisible(sql, by, found.isNarrow)
  const system = withSystem ? sql`or u.id = 0` : sql``
  const visible = sql`(${isSeen} and u.id > 0 ${system})`
  const who = isMember === false ? sql`(not ${isIn} and ${visible})` : sql`(${isIn} or ${visible})`
  return listUserIds(sql, sql`${who} and ${found.where} ${toOthers(sql, by, page, isAgent)}`, page)
}

/** Pages beyond this position come from a cached list of all ids. A guess. */
const deepFrom = 5_000

/** How long that list may be reused: gathering 6,000 of 100,000 members takes 0.7 s. */
const rememberedMs = 30_000

/** The most ids of one cached search, and searches: 0.8 MB each at most. Guesses. */
const rememberedIds = 100_000
const rememberedSearches = 20

interface Gathering extends Pick<Page<OrderField>, 'q' | 'trashed' | 'tags' | 'order'> {
  app: number
  kind: Principal['kind']
  isAgent: boolean | undefined
  isPrefix: boolean
}

const gatherMembers = cachedQuery(
  rememberedMs,
  async (sql: Sql, { app, kind, isAgent, isPrefix, ...page }: Gathering): Promise<number[] | null> => {
    const by = { kind, user: 0, credential: '' } as Principal
    const { where: isIn } = await restrictTo(sql, [
      sql`select m.user_id from members m where m.app_id = ${app} and m.access is not null`,
    ])
    const { where: isFound } = await restrictTo(sql, toFound(sql, page.q, isPrefix, by))
    const where = sql`${isIn} and ${isFound} ${toOthers(sql, by, page, isAgent)}`
    const all = { order: page.order, skip: 0, take: rememberedIds + 1 }
    const ids = await selectUserIds(sql, where, all, Number.MAX_SAFE_INTEGER)
    return ids.length > rememberedIds ? null : ids
  },
  rememberedSearches,
)

/**
 * A page of members who match a common word, or of distant members, from a list of all that is cached for further
 * pages. Null where they are too many.
 */
async function listGathered(sql: Sql, filter: MemberFilter, page: Page<OrderField>): Promise<IdPage | null> {
  const { app, by, isAgent, isPrefix } = filter
  const { q, trashed, tags, order, skip, take, countOnly } = page
  const found = await gatherMembers(sql, { app, kind: by.kind, isAgent, isPrefix, q, trashed, tags, order })
  if (found === null) return null
  const ids = countOnly ? [] : found.slice(skip, skip + take)
  if (ids.length === 0) return { ids, count: found.length }
  const rows = await sql<{ id: number }[]>`
    select m.user_id as id from members m
    where m.app_id = ${app} and m.user_id = any(${ids}::bigint[]) and m.access is not null`
  return { ids: inOrder(ids, rows).map(({ id }) => id), count: found.length }
}

/** For a caller who sees nearly all users: users who are not members, where these are fewer, or all users. */
async function findCandidates(
  sql: Sql,
  { app, memberCount, by, isMember }: MemberFilter,
  isOne: Fragment,
): Promise<Crowd | null> {
  const everybody = await findEverybody(sql, by)
  if (everybody === null || memberCount * 2 > everybody.size) return null
  const { isIn, size, hidden } = everybody
  if (isMember === null) return hidden.length === 0 ? everybody : null
  const seen = memberCount - (hidden.length === 0 ? 0 : await countMembersAmong(sql, app, hidden))
  return { isIn: sql`${isIn} and not ${isOne}`, size: size - seen }
}

async function countMembersAmong(sql: Sql, app: number, users: number[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from members m
    where m.app_id = ${app} and m.user_id = any(${users}::bigint[]) and m.access is not null`
  return row!.count
}

/** The apps that a user is a member of and can leave. Served by members_user. */
export async function listMemberships(sql: Sql, user: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select a.id from members m join apps a on a.id = m.app_id
    where m.user_id = ${user} and m.access is not null
      and a.deleted_at is null and a.type not in ('private_chat', 'agent_chat')
    order by a.id`
  return rows.map(({ id }) => id)
}

/**
 * The successor when the owner of an app, or an admin, is among `leaving`: the first to have joined of the remaining
 * members with write access. Null where there is none, or no owner or admin leaves: only otherwise all members are
 * read.
 */
export async function findHeir(db: Db, app: number, leaving: number[]): Promise<number | null> {
  const [row] = await db<{ id: number }[]>`
    select m.user_id as id from members m join users u on u.id = m.user_id
    where (
        exists (select from apps where id = ${app} and owner_id = any(${leaving}::bigint[]))
        or exists (
          select from members l
          where l.app_id = ${app} and l.user_id = any(${leaving}::bigint[]) and l.access = 'admin')
      )
      and m.app_id = ${app} and m.access in ('write', 'admin') and m.user_id <> all(${leaving}::bigint[])
      and not u.is_agent and u.trashed_at is null
    order by m.joined_rev, m.user_id limit 1`
  return row?.id ?? null
}
