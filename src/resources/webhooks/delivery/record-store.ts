import { reviveDates } from '../../../engine/commit/revive.ts'
import type { AppRow } from '../../../engine/state.ts'
import { orderFields } from '../store.ts'
import { keepRecords, type Outcome } from './store.ts'
import { batch } from '../../../postgres/batch.ts'
import { orderBy } from '../../../postgres/order.ts'
import type { Page } from '../../../api/page.ts'
import type { Db, Fragment, Tx } from '../../../postgres/sql.ts'

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
  assigns: { event_id: 'number', facts: 'delivery', created_at: 'time' },
  sql: (rows, columns) => `insert into deliveries (${columns}) select ${columns} from ${rows} r`,
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
  /** Why the last attempt had no complete answer. */
  error: string | null
}

export interface DeliveryRow extends DeliverySummaryRow, Pick<Outcome, 'body' | 'request'> {
  response: Outcome['response'] | null
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
}

/**
 * One page of the deliveries that were attempted, or of queued ones where these are asked for. Of one webhook, at most
 * the kept records beside those that are attempted again, which come first with `retriedFirst`.
 */
export function listDeliveries(
  db: Db,
  filter: DeliveryFilter,
  page: Page<(typeof orderFields)[number]>,
  retriedFirst: boolean,
): Promise<DeliverySummaryRow[]> {
  const keys = { id: 'id', created_at: 'created_at' }
  const isRetried = { field: 'is_retried', descending: true } as const
  return db<DeliverySummaryRow[]>`
    select ${summaryColumns(db)}
    from ${newest(db, filter)}
    where ${isWanted(db, filter, page)}
    ${orderBy(db, retriedFirst ? [isRetried, ...page.order] : page.order, { ...keys, is_retried: 'due_at is not null' })}
    limit ${page.take} offset ${page.skip}`
}

export async function countDeliveries(db: Db, filter: DeliveryFilter, page: Page): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from ${newest(db, filter)} where ${isWanted(db, filter, page)}`
  return row!.count
}

const summaryColumns = (db: Db) =>
  db`id, webhook_id, guid, event_id, action, status, delivered_at, duration_ms, status_code, attempts, due_at,
    response ->> 'error' as error`

/**
 * Skips old records that have not been removed yet. A delivery that is attempted again is queued, and has been attempted:
 * it is in both lists. Served by deliveries_webhook and deliveries_due.
 */
function newest(db: Db, { webhook, status }: DeliveryFilter): Fragment {
  const last = (isOfStatus: Fragment) =>
    webhook === undefined
      ? db`(select * from deliveries where ${isOfStatus})`
      : db`(select * from deliveries where webhook_id = ${webhook} and ${isOfStatus} order by id desc limit ${keepRecords})`
  if (status === 'queued') return db`${last(db`status = 'queued'`)} newest`
  if (status !== undefined) return db`${last(db`status <> 'queued'`)} newest`
  return db`(
    ${last(db`status <> 'queued'`)} union all ${last(isRetried(db))}
  ) newest`
}

/** Of a queued delivery that has failed, and is attempted again. Served by deliveries_due. */
const isRetried = (db: Db) => db`status = 'queued' and due_at is not null`

function isWanted(db: Db, filter: DeliveryFilter, { q, tags, trashed }: Page): Fragment {
  const { action, status, event, since, until } = filter
  if (tags.length > 0 || trashed === true) return db`false`
  return db`true
    ${action === undefined ? db`` : db`and action = ${action}`}
    ${status === undefined ? db`` : db`and status = ${status}`}
    ${event === undefined ? db`` : db`and event_id = ${event}`}
    ${since === undefined ? db`` : db`and coalesce(delivered_at, created_at) >= ${since}`}
    ${until === undefined ? db`` : db`and coalesce(delivered_at, created_at) < ${until}`}
    ${q === undefined ? db`` : db`and strpos(action, fold_name(${q})) > 0`}`
}

/** The state of a webhook's deliveries. */
export interface WebhookHealth {
  queued: number
  oldest_queued_at: Date | null
  failures_24h: number
  last_success_at: Date | null
  last_attempt_at: Date | null
  /** Why the last attempt has failed; null where it has not. */
  last_error: string | null
  next_attempt_at: Date | null
}

/** Served by deliveries_queue, deliveries_due, deliveries_failed and deliveries_webhook. */
export async function findHealth(db: Db, webhook: number, dayAgo: Date): Promise<WebhookHealth> {
  const [row] = await db<WebhookHealth[]>`
    select
      (select count(*) from deliveries where webhook_id = ${webhook} and status = 'queued') as queued,
      (select min(created_at) from deliveries where webhook_id = ${webhook} and status = 'queued') as oldest_queued_at,
      (select count(*) from deliveries
        where webhook_id = ${webhook} and status = 'failure' and delivered_at > ${dayAgo}) as failures_24h,
      (select delivered_at from deliveries where webhook_id = ${webhook} and status = 'success'
        order by id desc limit 1) as last_success_at,
      (select min(due_at) from deliveries where webhook_id = ${webhook} and ${isRetried(db)}) as next_attempt_at,
      last.delivered_at as last_attempt_at,
      case when last.status <> 'success'
        then coalesce(last.response ->> 'error', 'The receiver answered ' || last.status_code) end as last_error
    from (select) one left join lateral (
      (select delivered_at, status, status_code, response from deliveries
        where webhook_id = ${webhook} and status <> 'queued' order by id desc limit 1)
      union all
      (select delivered_at, status, status_code, response from deliveries
        where webhook_id = ${webhook} and ${isRetried(db)} order by delivered_at desc limit 1)
      order by delivered_at desc limit 1
    ) last on true`
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
