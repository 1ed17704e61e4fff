import { fromNearerEnd, orderBy, inOrder, type NearWalk } from '../../../postgres/order.ts'
import type { OrderKey, Page } from '../../../api/page.ts'
import { cachedQuery } from '../../../postgres/cached-query.ts'
import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import { findOutdated, isListed, type Outdated } from './audits.ts'
import { toExisting } from './departures.ts'
import { toUnread } from './marks.ts'
import { correct, findBlocks, keepTotals, manyNotifications, sum, toStart, type Block } from './totals.ts'
import type { NotificationRow } from '../schema.ts'
import { listByIds } from '../store.ts'
import { toTextMatch } from '../processing/terms.ts'

export const orderFields = ['id', 'created_at'] as const
type OrderField = (typeof orderFields)[number]

export interface Filter {
  /** Null: of all users. */
  user: number | null
  app?: number | undefined
  directory?: number | undefined
  action?: string | undefined
  type?: string | undefined
  isUnread?: boolean | undefined
}

/**
 * One page, and the total. Served by notifications_listed, without reading rows that are not on the page, as far as these
 * have not changed since the last vacuum. Of a user with many, totals are kept in blocks of ids: see totals.ts. Pages of all
 * users' notifications are walked to along the primary key, past hidden ones.
 */
export async function listNotifications(
  db: Db,
  filter: Filter,
  page: Page<OrderField>,
): Promise<{ rows: NotificationRow[]; count: number }> {
  const { q, tags, trashed, skip } = page
  if (tags.length > 0 || trashed === true) return { rows: [], count: 0 }
  const hasWords = Boolean(q?.trim())
  const { hasWordsOf } = hasWords ? await toTextMatch(db, filter.user, q!) : { hasWordsOf: db`true` }
  const { isMatching, isMarked } = await toMatching(db, filter)
  const wanted = db`${isMatching} and ${hasWordsOf}`
  const outdated = await findOutdated(db, filter.user, wanted)
  const kept = hasWords || isMarked ? null : await findKept(db, filter)
  const blocks = kept === null ? null : correct(kept, outdated)
  const count = blocks === null ? await countListed(db, filter, { wanted, outdated, hasWords }) : sum(blocks)
  if (page.countOnly || skip >= count) return { rows: [], count }
  const asked = { filter, page, count, wanted, outdated, blocks }
  const ids = (await findRecent(db, asked)) ?? (await findPage(db, asked))
  return { rows: inOrder(ids, await listByIds(db, ids)), count }
}

/** The blocks of a list that is filtered by what is kept of these; null for others. */
function findKept(db: Db, { user, app, directory, action, type, isUnread }: Filter): Promise<Block[] | null> | null {
  const isKept = user !== null && [app, directory, action].every(narrow => narrow === undefined)
  return isKept ? findBlocks(db, { user, type, isUnread }) : null
}

/** A list that is not empty; `blocks` where they are kept. */
interface Asked {
  filter: Filter
  page: Page<OrderField>
  count: number
  wanted: Fragment
  outdated: Outdated
  blocks: Block[] | null
}

async function findPage(db: Db, { filter, page, count, wanted, outdated, blocks }: Asked): Promise<number[]> {
  const { user } = filter
  const { order, take } = page
  const isShown = isListed(db, outdated)
  const select = (isPassed: Fragment, { order, limit, offset }: Omit<NearWalk<OrderField>, 'restore'>) => db<
    { id: number }[]
  >`
    select n.id from notifications n where ${wanted} and ${isPassed}
    ${toOrder(db, order, filter)} limit ${limit} offset ${offset}`
  if (blocks !== null && user !== null && isById(order)) {
    const { isFrom, offset } = toStart(db, blocks, { user, skip: page.skip, descending: order[0]!.descending })
    return toIds(await select(db`${isShown} and ${isFrom}`, { order, limit: take, offset }))
  }
  const near = fromNearerEnd(page, count)
  // For distant pages: few notifications are hidden, so their ids are listed, and skipped rows need not be read.
  const isPassed =
    user === null && near.offset > walkedRows && isById(order)
      ? db`n.id not in (select unnest(array(select id from notifications where is_hidden)))`
      : isShown
  return near.restore(toIds(await select(isPassed, near)))
}

/** The most rows walked over one by one to skip hidden ones. A guess: 20 ms. */
const walkedRows = 10_000

/** The newest, or oldest, of all users' notifications that are searched for those of one. A guess: 10 ms. */
const recentRows = 10_000

/**
 * A page by time of a user with many, where it is found among the newest, or oldest, of all users. Otherwise null: then all
 * of the user's are sorted. Served by notifications_age.
 */
async function findRecent(db: Db, { filter, page, count, wanted, outdated, blocks }: Asked): Promise<number[] | null> {
  const { order, limit, offset, restore } = fromNearerEnd(page, count)
  if (blocks === null || isById(order) || offset + limit > recentRows) return null
  const { descending } = order[0]!
  const isCertain = descending
    ? db`n.created_at > (select min(created_at) from recent)`
    : db`n.created_at < (select max(created_at) from recent)`
  const found = await db<{ id: number }[]>`
    with recent as materialized (
      select id, user_id, type, is_unread, is_hidden, created_at from notifications
      order by created_at ${descending ? db`desc` : db`asc`} limit ${recentRows}
    )
    select n.id from recent n where ${wanted} and ${isListed(db, outdated)} and ${isCertain}
    ${toOrder(db, order, filter)} limit ${limit} offset ${offset}`
  return found.length === limit ? restore(toIds(found)) : null
}

function toIds(rows: { id: number }[]): number[] {
  return rows.map(({ id }) => id)
}

interface Counting {
  wanted: Fragment
  outdated: Outdated
  hasWords: boolean
}

/** The total of a list that is kept nowhere. For the user with many, it is kept from now on. */
async function countListed(db: Db, filter: Filter, { wanted, outdated, hasWords }: Counting): Promise<number> {
  const { user } = filter
  const isMany = user === null && !hasWords && (await areMany(db))
  const count = isMany ? await countMany(db as Sql, filter) : await countStored(db, filter, wanted)
  if (user !== null && count >= manyNotifications) await keepTotals(db, user)
  return count - outdated.hidden.length + outdated.shown.length
}

/**
 * The number of notifications stored as visible. Served by notifications_listed; of all users', the hidden ones are
 * counted, which are fewer.
 */
async function countStored(db: Db, { user }: Filter, wanted: Fragment): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select ${
      user === null
        ? db`(select count(*) from notifications n where ${wanted})
          - (select count(*) from notifications n where ${wanted} and n.is_hidden)`
        : db`(select count(*) from notifications n where ${wanted} and not n.is_hidden)`
    } as count`
  return row!.count
}

/** With more notifications than this, counting takes too long for each page: a million takes 0.1 s. */
const manyRows = 1_000_000

/** How long the total of very many may be reused: nothing depends on it. */
const rememberedMs = 30_000

/** By PostgreSQL's statistics of the table. */
async function areMany(db: Db): Promise<boolean> {
  const [row] = await db<{ are_many: boolean }[]>`
    select reltuples >= ${manyRows} as are_many from pg_class where oid = 'notifications'::regclass`
  return row!.are_many
}

const countMany = cachedQuery(rememberedMs, async (sql: Sql, filter: Filter): Promise<number> => {
  const { isMatching } = await toMatching(sql, filter)
  return countStored(sql, filter, isMatching)
})

function isById([key]: OrderKey<OrderField>[]): boolean {
  return key?.field === 'id'
}

/** The user is part of the order as well: by id alone, PostgreSQL may walk over the notifications of all users. */
function toOrder(db: Db, order: OrderKey<OrderField>[], { user }: Filter): Fragment {
  if (!isById(order)) return orderBy(db, order, { id: 'n.id', created_at: 'n.created_at' })
  const direction = order[0]!.descending ? db`desc` : db`asc`
  return user === null ? db`order by n.id ${direction}` : db`order by n.user_id ${direction}, n.id ${direction}`
}

/**
 * A condition on `n`, in an object, because awaiting a bare fragment would run it as a statement. `isMarked`: it considers
 * marks.
 */
async function toMatching(db: Db, filter: Filter): Promise<{ isMatching: Fragment; isMarked: boolean }> {
  const { user, app, directory, action, type } = filter
  const { isUnread, isMarked } =
    filter.isUnread === undefined ? { isUnread: db`true`, isMarked: false } : await toUnread(db, user)
  const { hasUser } = user === null ? await toExisting(db) : { hasUser: db`true` }
  const isMatching = db`${isOf(db, user)} and ${hasUser}
    ${app === undefined ? db`` : db`and n.app_id = ${app}`}
    ${directory === undefined ? db`` : db`and n.app_id in (select id from apps where directory_id = ${directory})`}
    ${action === undefined ? db`` : db`and n.action = ${action}`}
    ${type === undefined ? db`` : isOfType(db, type)}
    ${filter.isUnread === undefined ? db`` : filter.isUnread ? db`and ${isUnread}` : db`and not (${isUnread})`}`
  return { isMatching, isMarked }
}

/** Most are of one type; the others are in notifications_typed. */
function isOfType(db: Db, type: string): Fragment {
  return db`and n.type = ${type} ${type === 'activity' ? db`` : db`and n.type <> 'activity'`}`
}

/** Not an equation, from which PostgreSQL would conclude that the order is by id alone. */
function isOf(db: Db, user: number | null): Fragment {
  return user === null ? db`true` : db`n.user_id >= ${user} and n.user_id <= ${user}`
}
