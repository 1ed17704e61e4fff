import { batch } from '../../storage/batch.ts'
import type { OrderKey, Page } from '../../storage/page.ts'
import type { Db, Fragment } from '../../storage/sql.ts'
import { toTsQuery } from '../../storage/words.ts'
import { findStart, isShown, type Shown } from '../content/position.ts'
import type { ContentRow } from '../content/schema.ts'

export const orderFields = ['id', 'created_at', 'updated_at'] as const
export type OrderField = (typeof orderFields)[number]

const columns = {
  id: 'bigint',
  app_id: 'bigint',
  text: 'text',
  html: 'text',
  plain: 'text',
  metadata: 'jsonb',
  tags: 'text[]',
  embed_id: 'bigint',
  meeting_id: 'bigint',
  created_at: 'timestamptz',
  created_by: 'bigint',
  updated_at: 'timestamptz',
  updated_by: 'bigint',
  trashed_at: 'timestamptz',
} as const
const list = Object.keys(columns).join(', ')

/** Inserts the messages of one flush, of any number of apps, in one statement. */
export const insertMessages = batch<ContentRow>({
  name: 'insert_messages',
  columns,
  sql: rows => `insert into messages (${list}) select ${list} from ${rows} r`,
})

/** Writes whole rows of messages that exist. */
export const updateMessages = batch<ContentRow>({
  name: 'update_messages',
  columns,
  key: row => row.id,
  sql: rows => `
    update messages m set text = r.text, html = r.html, plain = r.plain, metadata = r.metadata, tags = r.tags,
      embed_id = r.embed_id, meeting_id = r.meeting_id, updated_at = r.updated_at, updated_by = r.updated_by,
      trashed_at = r.trashed_at
    from ${rows} r where m.id = r.id`,
})

export const removeMessages = batch<{ id: number }>({
  name: 'remove_messages',
  columns: { id: 'bigint' },
  key: row => row.id,
  sql: rows => `delete from messages m using ${rows} r where m.id = r.id`,
})

export async function findMessage(db: Db, id: number): Promise<ContentRow | null> {
  const [row] = await db<ContentRow[]>`select * from messages where id = ${id}`
  return row ?? null
}

export async function findMessages(db: Db, _app: number, ids: number[]): Promise<Map<number, ContentRow>> {
  const rows = await db<ContentRow[]>`select * from messages where id = any(${ids}::bigint[])`
  return new Map(rows.map(row => [row.id, row]))
}

/** An app's newest visible messages, newest first. Served by messages_app (app_id, id). */
export function listRecentMessages(db: Db, app: number, limit: number): Promise<ContentRow[]> {
  return db<ContentRow[]>`
    select * from messages where app_id = ${app} and trashed_at is null
    order by app_id desc, id desc limit ${limit}`
}

/** The newest visible messages without `id`: the newest, and the newest by anybody else than its author. */
export async function findNewest(db: Db, app: number, id: number) {
  // The second look-up walks back over messages of one author: long only where one person wrote nearly everything.
  const [row] = await db<{ last_id: number | null; last_by: number | null; prior_id: number | null }[]>`
    with last as (
      select id, created_by from messages
      where app_id = ${app} and trashed_at is null and id <> ${id}
      order by app_id desc, id desc limit 1
    )
    select last.id as last_id, last.created_by as last_by, (
      select m.id from messages m
      where m.app_id = ${app} and m.trashed_at is null and m.id <> ${id} and m.created_by <> last.created_by
      order by m.app_id desc, m.id desc limit 1
    ) as prior_id
    from last`
  return row ?? { last_id: null, last_by: null, prior_id: null }
}

export interface AppPage {
  app: number
  shown: Shown
  /** How many items are shown in all. */
  count: number
  skip: number
  take: number
  descending: boolean
}

/** A page of an app's messages by id, however deep. Served by messages_app. */
export async function listAppMessages(db: Db, { app, shown, count, skip, take, descending }: AppPage): Promise<ContentRow[]> {
  const first = descending ? Math.max(0, count - skip - take) : skip
  const limit = descending ? Math.max(0, Math.min(take, count - skip)) : take
  // From the nearer end: the newest pages are asked for far more often than any other.
  if (descending && skip < first) {
    return db<ContentRow[]>`
      select * from messages where app_id = ${app} and ${isShown(db, shown)}
      order by app_id desc, id desc limit ${limit} offset ${skip}`
  }
  const start = await findStart(db, app, first, shown)
  const rows = await db<ContentRow[]>`
    select * from messages where app_id = ${app} and id >= ${start.id} and ${isShown(db, shown)}
    order by app_id, id limit ${limit} offset ${start.skip}`
  return descending ? rows.toReversed() : rows
}

export interface Scope {
  /** The apps to look in; null for all. */
  apps: number[] | null
  /** Messages up to these ids are hidden from the caller, by app. */
  hidden: { app: number; id: number }[]
  /** Apps whose trashed messages the caller may restore; null for all. */
  administered: number[] | null
  /** Whose own trashed messages are shown. */
  author: number
}

/** How many messages a filtered list has. Counts rows: only unfiltered totals are kept. */
export async function countMessages(db: Db, scope: Scope, page: Page): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from messages where ${toFilter(db, scope, page)}`
  return row?.count ?? 0
}

/** How many messages of a filtered list are older than one of them; null where it is not listed. */
export async function findPosition(db: Db, scope: Scope, page: Page, id: number): Promise<number | null> {
  const [row] = await db<{ is_listed: boolean; count: number }[]>`
    select coalesce(bool_or(id = ${id}), false) as is_listed, count(*) filter (where id < ${id}) as count
    from messages where id <= ${id} and ${toFilter(db, scope, page)}`
  return row?.is_listed ? row.count : null
}

/** A page of messages over any number of apps, with any filter and order. */
export function listMessages(db: Db, scope: Scope, page: Page<OrderField>): Promise<ContentRow[]> {
  return db<ContentRow[]>`
    select * from messages where ${toFilter(db, scope, page)}
    order by ${toOrder(db, page.order)}
    limit ${page.take} offset ${page.skip}`
}

function toFilter(db: Db, { apps, hidden, administered, author }: Scope, { trashed, tags, q }: Page): Fragment {
  const query = toTsQuery(q, true)
  const mine =
    administered === null ? db`true` : db`(created_by = ${author} or app_id = any(${administered}::bigint[]))`
  return db`true
    ${apps === null ? db`` : db`and app_id = any(${apps}::bigint[])`}
    ${hidden.length === 0 ? db`` : db`and not exists (
      select from unnest(${hidden.map(row => row.app)}::bigint[], ${hidden.map(row => row.id)}::bigint[]) as h(app_id, id)
      where h.app_id = messages.app_id and messages.id <= h.id)`}
    ${trashed === false ? db`and trashed_at is null` : db``}
    ${trashed === true ? db`and trashed_at is not null and ${mine}` : db``}
    ${trashed === null ? db`and (trashed_at is null or ${mine})` : db``}
    ${tags.length === 0 ? db`` : db`and tags && ${tags}`}
    ${query === null ? db`` : db`and to_tsvector('simple', fold(plain)) @@ ${query}::tsquery`}`
}

function toOrder(db: Db, order: OrderKey<OrderField>[]): Fragment {
  return order
    .map(({ field, descending }) => {
      const column = field === 'updated_at' ? db`coalesce(updated_at, created_at)` : db`${db(field)}`
      return descending ? db`${column} desc` : column
    })
    .reduce((all, key) => db`${all}, ${key}`)
}
