import { fromNearerEnd, orderBy, inOrder } from '../../../postgres/order.ts'
import type { Page } from '../../../api/page.ts'
import { cachedQuery } from '../../../postgres/cached-query.ts'
import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import { hasWords } from '../../../postgres/word-search.ts'
import type { NotificationRow } from '../schema.ts'
import { listByIds } from '../store.ts'
import { isShown } from './hidden.ts'

export const orderFields = ['id', 'created_at'] as const
type OrderField = (typeof orderFields)[number]

export interface Filter {
  /** Null: of all users. */
  user: number | null
  /** False: also notifications whose subjects the user cannot see, as for an API key. */
  isVisible: boolean
  app?: number | undefined
  directory?: number | undefined
  action?: string | undefined
  type?: string | undefined
  isUnread?: boolean | undefined
}

/**
 * One page, and the total. A user has few notifications, so these are read row by row, for whatever is asked. All users'
 * are counted, and walked to from the nearer end.
 */
export async function listNotifications(
  db: Db,
  filter: Filter,
  page: Page<OrderField>,
): Promise<{ rows: NotificationRow[]; count: number }> {
  if (page.tags.length > 0 || page.trashed === true) return { rows: [], count: 0 }
  const isFew = filter.user !== null || Boolean(page.q?.trim())
  const { ids, count } = isFew ? await listAmongFew(db, filter, page) : await walk(db, filter, page)
  return { rows: inOrder(ids, await listByIds(db, ids)), count }
}

interface Listed {
  ids: number[]
  count: number
}

/** With an API key, words are searched in so many of all users' notifications, the newest. Measured: 0.15 s. */
const searchedRows = 20_000

/** Served by notifications_user, or the primary key. */
async function listAmongFew(
  db: Db,
  filter: Filter,
  { q, order, skip, take, countOnly }: Page<OrderField>,
): Promise<Listed> {
  const { user } = filter
  const few =
    user === null
      ? db`(select * from notifications order by id desc limit ${searchedRows})`
      : db`(select * from notifications where user_id = ${user})`
  const [found] = await db<Listed[]>`
    with listed as materialized (
      select n.id, n.created_at from ${few} n
      where ${isMatching(db, filter)} and ${q?.trim() ? hasWords(db, textOf(db), q) : db`true`}
        and ${filter.isVisible ? isShown(db) : db`true`}
    )
    select (select count(*) from listed) as count,
      array(select n.id from listed n ${toOrder(db, order)} limit ${countOnly ? 0 : take} offset ${skip}) as ids`
  return found!
}

async function walk(db: Db, filter: Filter, page: Page<OrderField>): Promise<Listed> {
  const count = (await areMany(db)) ? await countMany(db as Sql, filter) : await countAll(db, filter)
  if (page.countOnly || page.skip >= count) return { ids: [], count }
  const { order, limit, offset, restore } = fromNearerEnd(page, count)
  const rows = await db<{ id: number }[]>`
    select n.id from notifications n where ${isMatching(db, filter)}
    ${toOrder(db, order)} limit ${limit} offset ${offset}`
  return { ids: restore(rows.map(({ id }) => id)), count }
}

async function countAll(db: Db, filter: Filter): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from notifications n where ${isMatching(db, filter)}`
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

const countMany = cachedQuery(rememberedMs, (sql: Sql, filter: Filter) => countAll(sql, filter))

function toOrder(db: Db, order: Page<OrderField>['order']): Fragment {
  return orderBy(db, order, { id: 'n.id', created_at: 'n.created_at' })
}

/** A condition on `n`, beside the user. */
function isMatching(db: Db, { app, directory, action, type, isUnread }: Filter): Fragment {
  return db`true
    ${app === undefined ? db`` : db`and n.app_id = ${app}`}
    ${directory === undefined ? db`` : db`and n.app_id in (select id from apps where directory_id = ${directory})`}
    ${action === undefined ? db`` : db`and n.action = ${action}`}
    ${type === undefined ? db`` : isOfType(db, type)}
    ${isUnread === undefined ? db`` : db`and n.is_unread = ${isUnread}`}`
}

/** Most are of one type; the others are in notifications_typed. */
function isOfType(db: Db, type: string): Fragment {
  return db`and n.type = ${type} ${type === 'activity' ? db`` : db`and n.type <> 'activity'`}`
}

/** The text of `n`, with its Markdown. */
function textOf(db: Db): Fragment {
  return db`regexp_replace(n.template, '[{][0-9][}]', ' ', 'g') || ' ' || array_to_string(n.args, ' ')`
}
