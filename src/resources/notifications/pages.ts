import { fromNearerEnd, orderBy } from '../../storage/order.ts'
import type { OrderKey, Page } from '../../storage/page.ts'
import type { Db, Fragment } from '../../storage/sql.ts'
import { isShown, selectHidden } from './hidden.ts'
import type { NotificationRow } from './schema.ts'
import { listByIds } from './store.ts'
import { toSaid } from './terms.ts'

export const orderFields = ['id', 'created_at'] as const
type OrderField = (typeof orderFields)[number]

export interface Filter {
  /** Null: of everybody. */
  user: number | null
  app?: number | undefined
  directory?: number | undefined
  action?: string | undefined
  type?: string | undefined
  isUnread?: boolean | undefined
}

/** Up to as many, it is asked of each whether it is shown; of more, it is found once which are not. A guess. */
const askedLimit = 2_000

/**
 * One page, and how many there are. Served by notifications_user, without looking at rows that are not on the page: any
 * page of 300,000 takes 50 ms.
 */
export async function listNotifications(
  db: Db,
  filter: Filter,
  page: Page<OrderField>,
): Promise<{ rows: NotificationRow[]; count: number }> {
  const { q, tags, trashed, skip, order } = page
  if (tags.length > 0 || trashed === true) return { rows: [], count: 0 }
  const { isSaid } = q?.trim() ? await toSaid(db, filter.user, q) : { isSaid: db`true` }
  const wanted = db`${matches(db, filter)} and ${isSaid}`
  const from = db`notifications n where ${wanted}`
  const all = await countAll(db, from)
  const isFew = all <= askedLimit
  const count = isFew ? await countAll(db, db`${from} and ${isShown(db)}`) : all - (await countHidden(db, wanted))
  if (page.countOnly || skip >= count) return { rows: [], count }
  const near = fromNearerEnd(page, count)
  // To be sorted otherwise, each is looked at, however near the page is.
  const isNear = isById(order) && near.offset <= askedLimit
  const isListed = isFew || isNear ? isShown(db) : isNotHidden(db, wanted)
  // What is asked of each, is asked in their order, until there are enough: it costs most.
  const walk = isById(order) ? toOrder(db, near.order, filter) : db``
  const found = await db<{ id: number }[]>`
    select id from (select * from ${from} ${walk} offset 0) n where ${isListed}
    ${toOrder(db, near.order, filter)} limit ${near.limit} offset ${near.offset}`
  return { rows: await listInOrder(db, near.restore(found.map(({ id }) => id))), count }
}

async function countAll(db: Db, from: Fragment): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from ${from}`
  return row!.count
}

async function countHidden(db: Db, wanted: Fragment): Promise<number> {
  return countAll(db, db`(${selectHidden(db, wanted)}) h`)
}

/** As an array that is unpacked, because PostgreSQL hashes that, however many it expects. */
function isNotHidden(db: Db, wanted: Fragment): Fragment {
  return db`n.id not in (select unnest(array(${selectHidden(db, wanted)})))`
}

function isById([key]: OrderKey<OrderField>[]): boolean {
  return key?.field === 'id'
}

/** The user is named in the order as well: by id alone, PostgreSQL may walk over everybody's. */
function toOrder(db: Db, order: OrderKey<OrderField>[], { user }: Filter): Fragment {
  if (!isById(order)) return orderBy(db, order, { id: 'n.id', created_at: 'n.created_at' })
  const direction = order[0]!.descending ? db`desc` : db`asc`
  return user === null ? db`order by n.id ${direction}` : db`order by n.user_id ${direction}, n.id ${direction}`
}

async function listInOrder(db: Db, ids: number[]): Promise<NotificationRow[]> {
  const rows = new Map((await listByIds(db, ids)).map(row => [row.id, row]))
  // Whatever was deleted meanwhile is missing.
  return ids.flatMap(id => rows.get(id) ?? [])
}

function matches(db: Db, filter: Filter): Fragment {
  const { user, app, directory, action, type, isUnread } = filter
  return db`${isOf(db, user)}
    ${app === undefined ? db`` : db`and n.app_id = ${app}`}
    ${directory === undefined ? db`` : db`and n.app_id in (select id from apps where directory_id = ${directory})`}
    ${action === undefined ? db`` : db`and n.action = ${action}`}
    ${type === undefined ? db`` : db`and n.type = ${type}`}
    ${isUnread === undefined ? db`` : isUnread ? db`and n.is_unread` : db`and not n.is_unread`}`
}

/** Not an equation, from which PostgreSQL would take that the order is by id alone. */
function isOf(db: Db, user: number | null): Fragment {
  return user === null ? db`true` : db`n.user_id >= ${user} and n.user_id <= ${user}`
}
