import { batch, batchOfIds } from '../../postgres/batch.ts'
import type { Db } from '../../postgres/sql.ts'
import type { ParentType } from '../content/parent.ts'

/** A row of `subscriptions`: a user's choice about a post or file, or an automatic subscription. */
export interface SubscriptionRow {
  entity_id: number
  user_id: number
  entity_type: ParentType
  is_subscribed: boolean
  /** Events with smaller revs came before it. */
  since: number
}

const columns = {
  entity_id: 'bigint',
  user_id: 'bigint',
  entity_type: 'text',
  is_subscribed: 'boolean',
  since: 'bigint',
} as const

/** Stores users' choices. */
export const saveSubscription = batch<SubscriptionRow>({
  name: 'save_subscriptions',
  columns,
  key: row => `${row.entity_id}:${row.user_id}`,
  sql: rows => `
    insert into subscriptions (entity_id, user_id, entity_type, is_subscribed, since)
    select entity_id, user_id, entity_type, is_subscribed, since from ${rows} r
    on conflict (entity_id, user_id) do update set is_subscribed = excluded.is_subscribed,
      since = case when subscriptions.is_subscribed = excluded.is_subscribed then subscriptions.since
        else excluded.since end`,
})

/** Subscribes users who have made no choice. */
export const addSubscription = batch<SubscriptionRow>({
  name: 'add_subscriptions',
  columns,
  assigns: { entity_id: 'number', since: 'number' },
  sql: rows => `
    insert into subscriptions (entity_id, user_id, entity_type, is_subscribed, since)
    select entity_id, user_id, entity_type, is_subscribed, since from ${rows} r
    on conflict do nothing`,
})

/** Removes everybody's subscription to what goes for good. */
export const removeSubscriptionsOf = batchOfIds(
  'remove_subscriptions_of',
  rows => `delete from subscriptions s using ${rows} r where s.entity_id = r.id`,
)

/** The posts and files among some that a user is subscribed to. Served by the primary key. */
export async function findSubscribed(db: Db, user: number, entities: number[]): Promise<Set<number>> {
  const rows = await db<{ entity_id: number }[]>`
    select entity_id from subscriptions
    where user_id = ${user} and entity_id = any(${entities}::bigint[]) and is_subscribed`
  return new Set(rows.map(row => row.entity_id))
}

/** The users subscribed to a post or file before the event with this rev. Served by the primary key. */
export async function listSubscribers(db: Db, entity: number, rev: number): Promise<number[]> {
  const rows = await db<{ user_id: number }[]>`
    select user_id from subscriptions where entity_id = ${entity} and is_subscribed and since < ${rev} order by user_id`
  return rows.map(row => row.user_id)
}
