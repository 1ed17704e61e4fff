import type { Tx } from '../../../postgres/sql.ts'
import { listByIds } from '../store.ts'
import type { Change, NotificationRow } from '../schema.ts'

/** Queues webhook deliveries for notifications that this transaction made. */
export async function queueCreated(tx: Tx, ids: number[], now: Date): Promise<void> {
  if (ids.length === 0 || !(await isWanted(tx))) return
  const rows = await listByIds(tx, ids)
  const events = rows.map(row => toEvent(row, row.actor_ids[0] ?? 0, now))
  await insertDeliveries(tx, 'notification_created', events, now)
}

/** Queues webhook deliveries for a changed notification. */
export async function queueUpdated(tx: Tx, { id, by }: { id: number; by: number }, now: Date): Promise<void> {
  if (!(await isWanted(tx))) return
  const rows = await listByIds(tx, [id])
  const events = rows.map(row => toEvent(row, by, now))
  await insertDeliveries(tx, 'notification_updated', events, now)
}

/** A user marks several notifications; `app_id` is set where all are of one app. */
export interface Marked {
  user_id: number
  app_id: number | null
}

/** Queues webhook deliveries for users who mark several notifications. */
export async function queueMarked(tx: Tx, marked: readonly Marked[], now: Date): Promise<void> {
  if (marked.length === 0 || !(await isWanted(tx))) return
  const events = marked.map(({ user_id, app_id }) => ({
    app_id: app_id ?? 0,
    actor_id: user_id,
    facts: { entity_id: user_id, facts: { app_id }, body: null, created_at: now },
  }))
  await insertDeliveries(tx, 'notifications_marked', events, now)
}

async function isWanted(tx: Tx): Promise<boolean> {
  const rows = await tx`select from webhooks where is_enabled and 'notifications' = any(triggers) limit 1`
  return rows.length > 0
}

interface DeliveryEvent {
  app_id: number
  actor_id: number
  facts: object
}

/** All deliveries of one event share its number. */
async function insertDeliveries(tx: Tx, change: Change, events: DeliveryEvent[], now: Date): Promise<void> {
  const apps = events.map(({ app_id }) => app_id)
  const actors = events.map(({ actor_id }) => actor_id)
  const facts = events.map(event => JSON.stringify(event.facts))
  await tx`
    with queued as materialized (
      select nextval('numbers') as event_id, e.*
      from unnest(${apps}::bigint[], ${actors}::bigint[], ${facts}::text[]) as e(app_id, actor_id, facts))
    insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, facts, created_at)
    select w.id, t.event_id, 'notifications', ${change}, t.app_id, t.actor_id, t.facts::jsonb, ${now}
    from webhooks w cross join queued t
    where w.is_enabled and 'notifications' = any(w.triggers)`
}

function toEvent(row: NotificationRow, by: number, now: Date): DeliveryEvent {
  const facts = { entity_id: row.id, facts: null, body: withoutText(row), created_at: now }
  return { app_id: row.app_id ?? 0, actor_id: by, facts }
}

/** A notification's text is never sent, so it is not stored either. */
function withoutText(row: NotificationRow): NotificationRow {
  const rolled = row.rolled && { ...row.rolled, plain: null }
  const template = row.action === 'custom' ? '' : row.template
  return { ...row, rolled, app_name: null, args: [], template }
}
