import { reviveDates } from '../../engine/commit/revive.ts'
import type { AppRow } from '../../engine/state.ts'
import type { Outcome } from './delivery/store.ts'
import { batch } from '../../postgres/batch.ts'
import { orderBy } from '../../postgres/order.ts'
import type { Page } from '../../api/page.ts'
import type { Db, Fragment, Tx } from '../../postgres/sql.ts'

export interface WebhookRow {
  id: number
  payload_url: string
  triggers: string[]
  /** Encrypted, where keys are configured. */
  secret: string | null
  is_enabled: boolean
  /** The most retries of a failed delivery. */
  retries: number
  /** The previous secret, also encrypted, and until when it signs too. */
  old_secret: string | null
  old_secret_until: Date | null
  /** Since when no delivery has succeeded; null where the last one has. */
  failing_since: Date | null
  /** Why the server has disabled it; null where it has not. */
  disabled_reason: string | null
}

export type NewWebhookRow = Pick<WebhookRow, 'payload_url' | 'triggers' | 'secret' | 'is_enabled' | 'retries'>

const columns = (db: Db) =>
  db`id, payload_url, triggers, secret, is_enabled, retries, old_secret, old_secret_until, failing_since, disabled_reason`

export const orderFields = ['id', 'created_at'] as const
type OrderField = (typeof orderFields)[number]

/** Draws an id for a new webhook. */
export async function nextWebhookId(db: Db): Promise<number> {
  const [row] = await db<{ id: number }[]>`select nextval(pg_get_serial_sequence('webhooks', 'id')) as id`
  return row!.id
}

export async function insertWebhook(db: Db, row: NewWebhookRow & { id: number }, now: Date): Promise<void> {
  const { id, payload_url, triggers, secret, is_enabled, retries } = row
  await db`
    insert into webhooks (id, payload_url, triggers, secret, is_enabled, retries, created_at)
    values (${id}, ${payload_url}, ${triggers}, ${secret}, ${is_enabled}, ${retries}, ${now})`
}

export async function findWebhook(db: Db, id: number): Promise<WebhookRow | null> {
  const [row] = await db<WebhookRow[]>`
    select ${columns(db)} from webhooks where id = ${id}`
  return row ?? null
}

/** Locks a webhook until the transaction ends. */
export async function lockWebhook(tx: Tx, id: number): Promise<WebhookRow | null> {
  const [row] = await tx<WebhookRow[]>`
    select ${columns(tx)} from webhooks where id = ${id} for update`
  return row ?? null
}

export async function updateWebhook(tx: Tx, row: WebhookRow): Promise<void> {
  const { id, payload_url, triggers, secret, is_enabled, retries } = row
  const { old_secret, old_secret_until, failing_since, disabled_reason } = row
  await tx`
    update webhooks
    set payload_url = ${payload_url}, triggers = ${triggers}, secret = ${secret}, is_enabled = ${is_enabled},
      retries = ${retries}, old_secret = ${old_secret}, old_secret_until = ${old_secret_until},
      failing_since = ${failing_since}, disabled_reason = ${disabled_reason}
    where id = ${id}`
}

/** Removes a webhook with its deliveries; false where it does not exist. */
export async function removeWebhook(tx: Tx, id: number): Promise<boolean> {
  const { count } = await tx`delete from webhooks where id = ${id}`
  await tx`delete from deliveries where webhook_id = ${id}`
  return count > 0
}

export function listWebhooks(db: Db, page: Page<OrderField>): Promise<WebhookRow[]> {
  return db<WebhookRow[]>`
    select ${columns(db)} from webhooks
    where ${matches(db, page)}
    ${orderBy(db, page.order, { id: 'id', created_at: 'created_at' })}
    limit ${page.take} offset ${page.skip}`
}

/** Webhooks are few, so counting them is cheap. */
export async function countWebhooks(db: Db, page: Page): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from webhooks where ${matches(db, page)}`
  return row!.count
}

/** Webhooks have neither tags nor a trash. */
function matches(db: Db, { q, tags, trashed }: Page): Fragment {
  if (tags.length > 0 || trashed === true) return db`false`
  return q === undefined ? db`true` : db`strpos(lower(payload_url), lower(${q})) > 0`
}

/** A condition: a webhook is enabled. */
export const isAnyEnabled = 'exists (select from webhooks where is_enabled)'

/** The triggers of all enabled webhooks. */
export function listEnabled(db: Db): Promise<Pick<WebhookRow, 'id' | 'triggers'>[]> {
  return db<Pick<WebhookRow, 'id' | 'triggers'>[]>`select id, triggers from webhooks where is_enabled order by id`
}

/** A delivery to be queued. */
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

/** The copy that a queued delivery has of its removed app; null without one. */
export async function findLastOfApp(db: Db, delivery: number): Promise<AppRow | null> {
  const [row] = await db<{ app: unknown }[]>`select facts -> 'app' as app from deliveries where id = ${delivery}`
  return (reviveDates(row?.app) as AppRow | undefined) ?? null
}

/** Drops the queued deliveries of a webhook. Served by deliveries_queue. */
export async function removeQueued(tx: Tx, webhook: number): Promise<void> {
  await tx`delete from deliveries where webhook_id = ${webhook} and status = 'queued'`
}

export interface DeliverySummaryRow {
  id: number
  webhook_id: number
  guid: string
  event_id: number
  action: string
  status: string
  delivered_at: Date | null
  duration_ms: number | null
  status_code: number | null
  /** Attempts so far, and when the next one is due. */
  attempts: number
  due_at: Date | null
}

export interface DeliveryRow extends DeliverySummaryRow {
  body: string | null
  request: { url: string; method: string; headers: Record<string, string> } | null
  response: { status_code?: number; headers?: Record<string, string>; body?: string; error?: string } | null
}

export interface DeliveryFilter {
  /** Absent: of all webhooks. */
  webhook?: number | undefined
  action?: string | undefined
  status?: string | undefined
  event?: number | undefined
  /** The time of the attempt; of queued deliveries, of the event. */
  since?: Date | undefined
  until?: Date | undefined
  /** The most attempts of one webhook that are listed. */
  limit: number
}

/** One page of attempts, and of queued deliveries where these are asked for. */
export function listDeliveries(db: Db, filter: DeliveryFilter, page: Page<OrderField>): Promise<DeliverySummaryRow[]> {
  return db<DeliverySummaryRow[]>`
    select ${summaryColumns(db)}
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

const summaryColumns = (db: Db) =>
  db`id, webhook_id, guid, event_id, action, status, delivered_at, duration_ms, status_code, attempts, due_at`

/** Skips old records that have not been removed yet. Served by deliveries_webhook. */
function newest(db: Db, { webhook, status, limit }: DeliveryFilter): Fragment {
  const isOfStatus = status === 'queued' ? db`status = 'queued'` : db`status <> 'queued'`
  if (webhook === undefined) return db`(select * from deliveries where ${isOfStatus}) newest`
  return db`(
    select * from deliveries where webhook_id = ${webhook} and ${isOfStatus} order by id desc limit ${limit}
  ) newest`
}

function isWanted(db: Db, filter: DeliveryFilter, { q, tags, trashed }: Page): Fragment {
  const { action, status, event, since, until } = filter
  if (tags.length > 0 || trashed === true) return db`false`
  return db`true
    ${action === undefined ? db`` : db`and action = ${action}`}
    ${status === undefined ? db`` : db`and status = ${status}`}
    ${event === undefined ? db`` : db`and event_id = ${event}`}
    ${since === undefined ? db`` : db`and coalesce(delivered_at, created_at) >= ${since}`}
    ${until === undefined ? db`` : db`and coalesce(delivered_at, created_at) < ${until}`}
    ${q === undefined ? db`` : db`and strpos(action, lower(${q})) > 0`}`
}

/** The state of a webhook's deliveries. */
export interface WebhookHealth {
  queued: number
  oldest_queued_at: Date | null
  failures_24h: number
  last_success_at: Date | null
}

/** Served by deliveries_queue, deliveries_failed and deliveries_webhook. */
export async function findHealth(db: Db, webhook: number, dayAgo: Date): Promise<WebhookHealth> {
  const [row] = await db<WebhookHealth[]>`
    select
      (select count(*) from deliveries where webhook_id = ${webhook} and status = 'queued') as queued,
      (select min(created_at) from deliveries where webhook_id = ${webhook} and status = 'queued') as oldest_queued_at,
      (select count(*) from deliveries
        where webhook_id = ${webhook} and status = 'failure' and delivered_at > ${dayAgo}) as failures_24h,
      (select delivered_at from deliveries where webhook_id = ${webhook} and status = 'success'
        order by id desc limit 1) as last_success_at`
  return row!
}

/** Stores an attempt that was never queued. */
export async function insertAttempt(
  db: Db,
  {
    webhook,
    guid,
    trigger,
    action,
    now,
  }: { webhook: number; guid: string; trigger: string; action: string; now: Date },
  outcome: Outcome,
): Promise<DeliveryRow> {
  const { status, delivered_at, duration_ms, status_code, body, request, response } = outcome
  const [row] = await db<DeliveryRow[]>`
    insert into deliveries (
      webhook_id, guid, event_id, trigger, action, app_id, actor_id, created_at, status, delivered_at, duration_ms,
      status_code, attempts, body, request, response)
    values (${webhook}, ${guid}, 0, ${trigger}, ${action}, 0, 0, ${now}, ${status}, ${delivered_at}, ${duration_ms},
      ${status_code}, 1, ${body}, ${request && JSON.stringify(request)}::text::json,
      ${JSON.stringify(response)}::text::json)
    returning ${deliveryColumns(db)}`
  return row!
}

interface FailedDeliveries {
  webhook: number
  since: Date | undefined
  until: Date | undefined
  limit: number
  now: Date
}

/**
 * Queues failed deliveries again, each event once and oldest first, unless a later attempt of it is queued or has
 * succeeded; returns how many. Served by deliveries_failed.
 */
export async function copyFailed(tx: Tx, { webhook, since, until, limit, now }: FailedDeliveries): Promise<number> {
  const { count } = await tx`
    insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, facts, body, created_at)
    select webhook_id, event_id, trigger, action, app_id, actor_id, facts, body, ${now}::timestamptz
    from deliveries d
    where webhook_id = ${webhook} and status = 'failure' and (body is not null or facts is not null) and event_id > 0
      ${since === undefined ? tx`` : tx`and delivered_at >= ${since}`}
      ${until === undefined ? tx`` : tx`and delivered_at < ${until}`}
      and not exists (
        select from deliveries later
        where later.webhook_id = ${webhook} and later.event_id = d.event_id and later.action = d.action
          and later.id > d.id)
    order by id limit ${limit}`
  return count
}

/** Enabled webhooks with retries that have been failing since before a time. */
export async function listFailing(db: Db, before: Date): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    select id from webhooks where is_enabled and retries > 0 and failing_since < ${before} order by id`
  return rows.map(({ id }) => id)
}

const deliveryColumns = (db: Db) => db`${summaryColumns(db)}, body, request, response`

/** A reference to a delivery in a path. */
export type DeliveryRef = { id: number } | { guid: string }

/** A delivery of a webhook, attempted or still queued. */
export async function findDelivery(db: Db, webhook: number, ref: DeliveryRef): Promise<DeliveryRow | null> {
  const [row] = await db<DeliveryRow[]>`
    select ${deliveryColumns(db)}
    from deliveries where webhook_id = ${webhook} and ${isNamed(db, ref)}`
  return row ?? null
}

/** Queues a delivery again, under a new guid: its body, or its facts where there was no attempt yet. */
export async function copyDelivery(
  tx: Tx,
  { webhook, ref, now }: { webhook: number; ref: DeliveryRef; now: Date },
): Promise<DeliveryRow | null> {
  const [row] = await tx<DeliveryRow[]>`
    insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, facts, body, created_at)
    select webhook_id, event_id, trigger, action, app_id, actor_id, facts, body, ${now}::timestamptz
    from deliveries where webhook_id = ${webhook} and ${isNamed(tx, ref)}
    returning ${deliveryColumns(tx)}`
  return row ?? null
}

function isNamed(db: Db, ref: DeliveryRef): Fragment {
  return 'id' in ref ? db`id = ${ref.id}` : db`guid = ${ref.guid}`
}
