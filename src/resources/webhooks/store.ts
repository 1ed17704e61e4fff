import { reviveDates } from '../../actors/revive.ts'
import type { AppRow } from '../../actors/state.ts'
import { batch } from '../../storage/batch.ts'
import { orderBy } from '../../storage/order.ts'
import type { Page } from '../../storage/page.ts'
import type { Db, Fragment, Tx } from '../../storage/sql.ts'

export interface WebhookRow {
  id: number
  payload_url: string
  triggers: string[]
  /** Sealed, where there were keys. */
  secret: string | null
  is_enabled: boolean
}

export type NewWebhookRow = Omit<WebhookRow, 'id'>

export const orderFields = ['id', 'created_at'] as const
type OrderField = (typeof orderFields)[number]

/** A number for a webhook that is to be inserted. */
export async function nextWebhookId(db: Db): Promise<number> {
  const [row] = await db<{ id: number }[]>`select nextval(pg_get_serial_sequence('webhooks', 'id')) as id`
  return row!.id
}

export async function insertWebhook(db: Db, row: WebhookRow, now: Date): Promise<void> {
  const { id, payload_url, triggers, secret, is_enabled } = row
  await db`
    insert into webhooks (id, payload_url, triggers, secret, is_enabled, created_at)
    values (${id}, ${payload_url}, ${triggers}, ${secret}, ${is_enabled}, ${now})`
}

export async function findWebhook(db: Db, id: number): Promise<WebhookRow | null> {
  const [row] = await db<WebhookRow[]>`
    select id, payload_url, triggers, secret, is_enabled from webhooks where id = ${id}`
  return row ?? null
}

/** Locked until the transaction ends. */
export async function lockWebhook(tx: Tx, id: number): Promise<WebhookRow | null> {
  const [row] = await tx<WebhookRow[]>`
    select id, payload_url, triggers, secret, is_enabled from webhooks where id = ${id} for update`
  return row ?? null
}

export async function updateWebhook(
  tx: Tx,
  { id, payload_url, triggers, secret, is_enabled }: WebhookRow,
): Promise<void> {
  await tx`
    update webhooks
    set payload_url = ${payload_url}, triggers = ${triggers}, secret = ${secret}, is_enabled = ${is_enabled}
    where id = ${id}`
}

/** Removes a webhook with its deliveries; false where there is none. */
export async function removeWebhook(tx: Tx, id: number): Promise<boolean> {
  const { count } = await tx`delete from webhooks where id = ${id}`
  await tx`delete from deliveries where webhook_id = ${id}`
  return count > 0
}

export function listWebhooks(db: Db, page: Page<OrderField>): Promise<WebhookRow[]> {
  return db<WebhookRow[]>`
    select id, payload_url, triggers, secret, is_enabled from webhooks
    where ${matches(db, page)}
    ${orderBy(db, page.order, { id: 'id', created_at: 'created_at' })}
    limit ${page.take} offset ${page.skip}`
}

/** Webhooks are few, so they are counted. */
export async function countWebhooks(db: Db, page: Page): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from webhooks where ${matches(db, page)}`
  return row!.count
}

/** Webhooks have neither tags nor a trash. */
function matches(db: Db, { q, tags, trashed }: Page): Fragment {
  if (tags.length > 0 || trashed === true) return db`false`
  return q === undefined ? db`true` : db`strpos(lower(payload_url), lower(${q})) > 0`
}

/** All that events must be matched with. */
export function listEnabled(db: Db): Promise<Pick<WebhookRow, 'id' | 'triggers'>[]> {
  return db<Pick<WebhookRow, 'id' | 'triggers'>[]>`select id, triggers from webhooks where is_enabled order by id`
}

/** A delivery on its way into the queue. */
export interface NewDelivery {
  webhook_id: number
  event_id: number
  trigger: string
  action: string
  app_id: number
  actor_id: number
  facts: object
  created_at: Date
}

/** Queues the deliveries of one flush in one statement. */
export const insertDeliveries = batch<NewDelivery>({
  name: 'insert_deliveries',
  columns: {
    webhook_id: 'bigint',
    event_id: 'bigint',
    trigger: 'text',
    action: 'text',
    app_id: 'bigint',
    actor_id: 'bigint',
    facts: 'jsonb',
    created_at: 'timestamptz',
  },
  sql: rows => `
    insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, facts, created_at)
    select webhook_id, event_id, trigger, action, app_id, actor_id, facts, created_at from ${rows} r`,
})

/** What a queued delivery has taken over of its app, which was removed; null where it has not. */
export async function findLastOfApp(db: Db, delivery: number): Promise<AppRow | null> {
  const [row] = await db<{ app: unknown }[]>`select facts -> 'app' as app from deliveries where id = ${delivery}`
  return (reviveDates(row?.app) as AppRow | undefined) ?? null
}

/** Drops what waits for a webhook. Served by deliveries_queue. */
export async function removeQueued(tx: Tx, webhook: number): Promise<void> {
  await tx`delete from deliveries where webhook_id = ${webhook} and status = 'queued'`
}

export interface DeliverySummaryRow {
  id: number
  guid: string
  event_id: number
  action: string
  status: string
  delivered_at: Date | null
  duration_ms: number | null
  status_code: number | null
}

export interface DeliveryRow extends DeliverySummaryRow {
  body: string | null
  request: { url: string; method: string; headers: Record<string, string> } | null
  response: { status_code?: number; headers?: Record<string, string>; body?: string; error?: string } | null
}

interface DeliveryFilter {
  webhook: number
  action: string | undefined
  /** Newest attempts that are shown at all. */
  limit: number
}

/** One page of a webhook's attempts. What is still queued has no status yet, so it is not listed. */
export function listDeliveries(db: Db, filter: DeliveryFilter, page: Page<OrderField>): Promise<DeliverySummaryRow[]> {
  return db<DeliverySummaryRow[]>`
    select id, guid, event_id, action, status, delivered_at, duration_ms, status_code
    from ${newest(db, filter)}
    where ${isWanted(db, filter, page)}
    ${orderBy(db, page.order, { id: 'id', created_at: 'created_at' })}
    limit ${page.take} offset ${page.skip}`
}

export async function countDeliveries(db: Db, filter: DeliveryFilter, page: Page): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from ${newest(db, filter)} where ${isWanted(db, filter, page)}`
  return row!.count
}

/** Old records are removed now and then; until that they are passed over. Served by deliveries_webhook. */
function newest(db: Db, { webhook, limit }: DeliveryFilter): Fragment {
  return db`(
    select id, guid, event_id, action, status, delivered_at, duration_ms, status_code, created_at
    from deliveries where webhook_id = ${webhook} and status <> 'queued'
    order by id desc limit ${limit}
  ) newest`
}

function isWanted(db: Db, { action }: DeliveryFilter, { q, tags, trashed }: Page): Fragment {
  if (tags.length > 0 || trashed === true) return db`false`
  return db`${action === undefined ? db`true` : db`action = ${action}`}
    ${q === undefined ? db`` : db`and strpos(action, lower(${q})) > 0`}`
}

/** How a path names a delivery. */
export type DeliveryRef = { id: number } | { guid: string }

/** One delivery of a webhook, attempted or still queued. */
export async function findDelivery(db: Db, webhook: number, ref: DeliveryRef): Promise<DeliveryRow | null> {
  const [row] = await db<DeliveryRow[]>`
    select id, guid, event_id, action, status, delivered_at, duration_ms, status_code, body, request, response
    from deliveries where webhook_id = ${webhook} and ${isNamed(db, ref)}`
  return row ?? null
}

/** Queues a delivery once more, under a new guid: what was sent, or the facts where nothing has been sent yet. */
export async function copyDelivery(
  tx: Tx,
  { webhook, ref, now }: { webhook: number; ref: DeliveryRef; now: Date },
): Promise<DeliveryRow | null> {
  const [row] = await tx<DeliveryRow[]>`
    insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, facts, body, created_at)
    select webhook_id, event_id, trigger, action, app_id, actor_id, facts, body, ${now}::timestamptz
    from deliveries where webhook_id = ${webhook} and ${isNamed(tx, ref)}
    returning id, guid, event_id, action, status, delivered_at, duration_ms, status_code, body, request, response`
  return row ?? null
}

function isNamed(db: Db, ref: DeliveryRef): Fragment {
  return 'id' in ref ? db`id = ${ref.id}` : db`guid = ${ref.guid}`
}
