import { fromNearerEnd, orderBy } from '../../../postgres/order.ts'
import type { OrderKey, Page } from '../../../api/page.ts'
import { cachedQuery } from '../../../postgres/cached-query.ts'
import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import { findOutdated, isListed } from './audits.ts'
import { toExisting } from './departures.ts'
import { toUnread } from './marks.ts'
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
 * One page, and the total. Served by notifications_listed, without reading rows that are not on the page: any page of
 * 200,000 takes 50 ms. Pages of all users' notifications are walked to along the primary key, past hidden ones.
 */
export async function listNotifications(
  db: Db,
  filter: Filter,
  page: Page<OrderField>,
): Promise<{ rows: NotificationRow[]; count: number }> {
  const { q, tags, trashed, skip, order } = page
  if (tags.length > 0 || trashed === true) return { rows: [], count: 0 }
  const { hasWordsOf } = q?.trim() ? await toTextMatch(db, filter.user, q) : { hasWordsOf: db`true` }
  const { isMatching } = await toMatching(db, filter)
  const wanted = db`${isMatching} and ${hasWordsOf}`
  const outdated = await findOutdated(db, filter.user, wanted)
  const isMany = filter.user === null && !q?.trim() && (await areMany(db))
  const kept = isMany ? await countMany(db as Sql, filter) : await countKept(db, filter, wanted)
  const count = kept - outdated.hidden.length + outdated.shown.length
  if (page.countOnly || skip >= count) return { rows: [], count }
  const near = fromNearerEnd(page, count)
  const isShown = isListed(db, outdated)
  // For distant pages: few notifications are hidden, so their ids are listed, and skipped rows need not be read.
  const isPassed =
    filter.user === null && near.offset > walkedRows && isById(order)
      ? db`n.id not in (select unnest(array(select id from notifications where is_hidden)))`
      : isShown
  const found = await db<{ id: number }[]>`
    select n.id from notifications n where ${wanted} and ${isPassed}
    ${toOrder(db, near.order, filter)} limit ${near.limit} offset ${near.offset}`
  return { rows: await listInOrder(db, near.restore(found.map(({ id }) => id))), count }
}

/** The most rows walked over one by one to skip hidden ones. A guess: 20 ms. */
const walkedRows = 10_000

/**
 * The number of notifications stored as visible. Served by notifications_listed; of all users', the hidden ones are
 * counted, which are fewer.
 */
async function countKept(db: Db, { user }: Filter, wanted: Fragment): Promise<number> {
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
  return countKept(sql, filter, isMatching)
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

async function listInOrder(db: Db, ids: number[]): Promise<NotificationRow[]> {
  const rows = new Map((await listByIds(db, ids)).map(row => [row.id, row]))
  // Notifications that were deleted meanwhile are missing.
  return ids.flatMap(id => rows.get(id) ?? [])
}

/** In an object, because awaiting a bare fragment would run it as a statement. */
async function toMatching(db: Db, filter: Filter): Promise<{ isMatching: Fragment }> {
  const { user, app, directory, action, type } = filter
  const { isUnread } = filter.isUnread === undefined ? { isUnread: db`true` } : await toUnread(db, user)
  const { hasUser } = user === null ? await toExisting(db) : { hasUser: db`true` }
  const isMatching = db`${isOf(db, user)} and ${hasUser}
    ${app === undefined ? db`` : db`and n.app_id = ${app}`}
    ${directory === undefined ? db`` : db`and n.app_id in (select id from apps where directory_id = ${directory})`}
    ${action === undefined ? db`` : db`and n.action = ${action}`}
    ${type === undefined ? db`` : isOfType(db, type)}
    ${filter.isUnread === undefined ? db`` : filter.isUnread ? db`and ${isUnread}` : db`and not (${isUnread})`}`
  return { isMatching }
}

/** Most are of one type; the others are in notifications_typed. */
function isOfType(db: Db, type: string): Fragment {
  return db`and n.type = ${type} ${type === 'activity' ? db`` : db`and n.type <> 'activity'`}`
}

/** Not an equation, from which PostgreSQL would conclude that the order is by id alone. */
function isOf(db: Db, user: number | null): Fragment {
  return user === null ? db`true` : db`n.user_id >= ${user} and n.user_id <= ${user}`
}
