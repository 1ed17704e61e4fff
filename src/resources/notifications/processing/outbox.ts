import type { Tx } from '../../../postgres/sql.ts'
import { listByIds } from '../store.ts'
import type { Change, NotificationRow } from '../schema.ts'

/** Notifications that a transaction made or changed, and who changed them; their first actors made them. */
interface Changed {
  change: Change
  ids: number[]
  by?: number
}

/** Queues webhook deliveries for notifications that this transaction made or changed. */
export async function queueChanged(tx: Tx, { change, ids, by }: Changed, now: Date): Promise<void> {
  if (ids.length === 0 || !(await isWanted(tx))) return
  const events = (await listByIds(tx, ids)).map(row => ({
    app_id: row.app_id ?? 0,
    actor_id: by ?? row.actor_ids[0] ?? 0,
    facts: { entity_id: row.id, facts: null, body: withoutText(row), created_at: now },
  }))
  await insertDeliveries(tx, change, events, now)
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

/** A notification's text is never sent, so it is not stored either. */
function withoutText(row: NotificationRow): NotificationRow {
  const rolled = row.rolled && { ...row.rolled, plain: null }
  const template = row.action === 'custom' ? '' : row.template
  return { ...row, rolled, app_name: null, args: [], template }
}
