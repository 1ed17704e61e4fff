import type { Db, Fragment } from '../../../postgres/sql.ts'

/** A due delivery, with the current settings of its webhook. */
export interface QueuedDelivery {
  id: number
  webhook_id: number
  guid: string
  event_id: number
  trigger: string
  action: string
  app_id: number
  /** Deliveries of one lane are sent in order: those of an app's events; 0 for events of no app, and notifications. */
  lane: number
  actor_id: number
  facts: Record<string, unknown> | null
  /** Null before the first attempt; a redelivery repeats the body of the first attempt. */
  body: string | null
  payload_url: string
  secret: string | null
  /** The previous secret, while it signs too. */
  old_secret: string | null
  /** Attempts so far. */
  attempts: number
  /** The most retries that the webhook asks for. */
  retries: number
}

/** The result of taking the lease of a webhook's queue. */
export type Lease =
  /** No delivery is due. */
  | { state: 'empty' }
  /** Another node has the lease, or the webhook is disabled or deleted. */
  | { state: 'elsewhere' }
  /** `newest` is the newest queued event; transactions as old as `horizon` may still add older ones. */
  | { state: 'held'; newest: number; horizon: string; payload_url: string }

interface LeaseRequest {
  webhook: number
  node: string
  seconds: number
}

/** Takes or extends the lease of an enabled webhook with queued deliveries, unless another node has it. */
export async function takeLease(db: Db, { webhook, node, seconds }: LeaseRequest): Promise<Lease> {
  const [row] = await db<{ newest: number | null; horizon: string | null; payload_url: string }[]>`
    with queue as (
      select max(event_id) as newest from deliveries
      where webhook_id = ${webhook} and status = 'queued' and exists (${selectNext(db, { webhook, except: [] })})
    ),
    taken as (
      update webhooks
      set leased_by = ${node}, leased_until = now() + make_interval(secs => ${seconds})
      where id = ${webhook} and is_enabled and (select newest from queue) is not null
        and (leased_by is null or leased_by = ${node} or leased_until < now())
      returning payload_url, pg_current_xact_id()::text as horizon
    )
    select queue.newest, taken.payload_url, taken.horizon from queue left join taken on true`
  const { newest, horizon, payload_url } = row!
  if (newest === null) return { state: 'empty' }
  if (horizon === null) return { state: 'elsewhere' }
  return { state: 'held', newest, horizon, payload_url }
}

/** Ends all leases: none of the nodes that had them sends anything of what the queues hold now. */
export async function releaseAllLeases(db: Db): Promise<void> {
  await db`update webhooks set leased_by = null, leased_until = null where leased_by is not null`
}

export async function releaseLease(db: Db, webhook: number, node: string): Promise<void> {
  await db`update webhooks set leased_by = null, leased_until = null where id = ${webhook} and leased_by = ${node}`
}

/** True when every transaction as old as `horizon` has ended. */
export async function isSettled(db: Db, horizon: string): Promise<boolean> {
  const [row] = await db<{ is_settled: boolean }[]>`
    select pg_snapshot_xmin(pg_current_snapshot()) > ${horizon}::xid8 as is_settled`
  return row!.is_settled
}

interface NextRequest {
  webhook: number
  node: string
  upTo: number
  /** Lanes with a running attempt. */
  except: number[]
}

/**
 * The most deliveries of a queue that are searched for one of another lane than the running ones: where nearly all are
 * of a few lanes, the others wait for these. A guess: a third of a millisecond.
 */
const lookedAt = 500

/** The first delivery of a webhook leased by `node`, up to an event. Served by deliveries_queue. */
export async function findNext(db: Db, request: NextRequest): Promise<QueuedDelivery | null> {
  const { webhook, node } = request
  const [row] = await db<QueuedDelivery[]>`
    select d.id, d.webhook_id, d.guid, d.event_id, d.trigger, d.action, d.app_id, ${lane(db, db`d.`)} as lane,
      d.actor_id, d.facts, d.body, d.attempts,
      w.payload_url, w.secret, w.retries, case when w.old_secret_until > now() then w.old_secret end as old_secret
    from webhooks w join deliveries d on d.id = (${selectNext(db, request)})
    where w.id = ${webhook} and w.leased_by = ${node} and w.is_enabled`
  return row ?? null
}

/** False where all remaining deliveries wait for running attempts. */
export async function hasNext(db: Db, request: NextRequest): Promise<boolean> {
  const [row] = await db<{ id: number | null }[]>`select (${selectNext(db, request)}) as id`
  return row!.id !== null
}

/**
 * A delivery that waits for its retry blocks its lane: later events must not overtake it. Served by deliveries_queue
 * and deliveries_due.
 */
function selectNext(
  db: Db,
  { webhook, upTo, except }: Pick<NextRequest, 'webhook' | 'except'> & { upTo?: number },
): Fragment {
  return db`
    select id from (
      select id, ${lane(db, db``)} as lane, event_id from deliveries
      where webhook_id = ${webhook} and status = 'queued' ${upTo === undefined ? db`` : db`and event_id <= ${upTo}`}
      order by event_id, id limit ${lookedAt}
    ) oldest
    where lane <> all(${except}::bigint[]) and lane <> all(array(
      select ${lane(db, db``)} from deliveries
      where webhook_id = ${webhook} and status = 'queued' and due_at is not null and due_at > now()))
    order by event_id, id limit 1`
}

/** Notifications share one lane, because marking all of a user's concerns any number of apps. */
function lane(db: Db, d: Fragment): Fragment {
  return db`case when ${d}trigger = 'notifications' then 0 else ${d}app_id end`
}

/** The outcome of an attempt. */
export interface Outcome {
  status: 'success' | 'failure'
  delivered_at: Date
  duration_ms: number
  status_code: number | null
  body: string | null
  request: { url: string; method: string; headers: Record<string, string> } | null
  response: { status_code?: number; headers?: Record<string, string>; body?: string; error?: string }
}

/**
 * Stores the outcome of a queued delivery; a dropped one stays dropped. With `dueAt` it stays queued, and is sent again
 * then with its body unchanged. Records on the webhook since when it fails.
 */
export async function recordOutcome(db: Db, delivery: number, outcome: Outcome, dueAt: Date | null): Promise<void> {
  const { status, delivered_at, duration_ms, status_code, body, request, response } = outcome
  await db`
    with filed as (
      update deliveries
      set status = ${dueAt === null ? status : 'queued'}, delivered_at = ${delivered_at}, duration_ms = ${duration_ms},
        status_code = ${status_code}, body = ${body}, facts = null, attempts = attempts + 1, due_at = ${dueAt},
        request = ${request && JSON.stringify(request)}::text::json, response = ${JSON.stringify(response)}::text::json
      where id = ${delivery} and status = 'queued'
      returning webhook_id
    )
    update webhooks w set failing_since = ${status === 'success' ? null : delivered_at}
    from filed where w.id = filed.webhook_id and (w.failing_since is null) = ${status !== 'success'}`
}

/** Enabled webhooks with queued deliveries that no node is sending. One index look-up per webhook. */
export async function listDue(db: Db): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    select w.id from webhooks w
    where w.is_enabled and (w.leased_by is null or w.leased_until < now())
      and exists (select from deliveries d where d.webhook_id = w.id and d.status = 'queued')
    order by w.id`
  return rows.map(row => row.id)
}

export async function countQueued(db: Db): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from deliveries where status = 'queued'`
  return row!.count
}

/** The most attempts kept of one webhook. */
export const keepRecords = 1_000

/** Removes the oldest attempts of a webhook beyond those. Served by deliveries_webhook. */
export async function removeSurplus(db: Db, webhook: number): Promise<void> {
  await db`
    delete from deliveries
    where webhook_id = ${webhook} and status <> 'queued' and id <= (
      select id from deliveries where webhook_id = ${webhook} and status <> 'queued'
      order by id desc limit 1 offset ${keepRecords}
    )`
}

/** Removes deliveries older than `before`, queued or not, `limit` at most; returns how many. Ids grow with age. */
export async function removeOld(db: Db, before: Date, limit: number): Promise<number> {
  const { count } = await db`
    delete from deliveries where id in (
      select id from (select id, created_at from deliveries order by id limit ${limit}) oldest
      where created_at < ${before}
    )`
  return count
}

/**
 * Removes queued deliveries of disabled webhooks, and all deliveries of deleted ones, `limit` at most. Served by
 * deliveries_queue and deliveries_webhook, webhook by webhook: reading all of 100,000 deliveries took 0.1 s.
 */
export async function removeOrphans(db: Db, limit: number): Promise<number> {
  const webhooksWith = (isOfStatus: Fragment) => db`
    select webhook_id as id from deliveries where ${isOfStatus} order by webhook_id limit 1`
  const next = (isOfStatus: Fragment) => db`(
    select d.webhook_id from deliveries d
    where ${isOfStatus} and d.webhook_id > n.id order by d.webhook_id limit 1) from`
  const [isQueued, isDone] = [db`status = 'queued'`, db`status <> 'queued'`]
  const { count } = await db`
    with recursive queued as (
      (${webhooksWith(isQueued)}) union all select ${next(isQueued)} queued n where n.id is not null
    ), done as (
      (${webhooksWith(isDone)}) union all select ${next(isDone)} done n where n.id is not null
    )
    delete from deliveries where id in (
      select d.id from queued q join deliveries d on d.webhook_id = q.id and d.status = 'queued'
      where not exists (select from webhooks w where w.id = q.id and w.is_enabled)
      union all
      select d.id from done q join deliveries d on d.webhook_id = q.id and d.status <> 'queued'
      where not exists (select from webhooks w where w.id = q.id)
      limit ${limit}
    )`
  return count
}

/** Removes the oldest of a queue with more than `most` deliveries, `limit` at most. Served by deliveries_queue. */
export async function removeOverflow(db: Db, webhook: number, most: number, limit: number): Promise<number> {
  const { count } = await db`
    delete from deliveries where id in (
      select id from deliveries
      where webhook_id = ${webhook} and status = 'queued' and event_id <= (
        select event_id from deliveries where webhook_id = ${webhook} and status = 'queued'
        order by event_id desc, id desc limit 1 offset ${most}
      )
      order by event_id, id limit ${limit}
    )`
  return count
}

export async function listWebhookIds(db: Db): Promise<number[]> {
  const rows = await db<{ id: number }[]>`select id from webhooks order by id`
  return rows.map(row => row.id)
}
