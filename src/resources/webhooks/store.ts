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

export async function updateWebhook(tx: Tx, { id, ...columns }: WebhookRow): Promise<void> {
  await tx`update webhooks set ${tx(columns)} where id = ${id}`
}

/** Removes a webhook with its deliveries. */
export async function removeWebhook(tx: Tx, id: number): Promise<void> {
  await tx`delete from webhooks where id = ${id}`
  await tx`delete from deliveries where webhook_id = ${id}`
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
  return q === undefined ? db`true` : db`strpos(fold_name(payload_url), fold_name(${q})) > 0`
}

/** A condition: a webhook is enabled. */
export const isAnyEnabled = 'exists (select from webhooks where is_enabled)'

/** The triggers of all enabled webhooks. */
export function listEnabled(db: Db): Promise<Pick<WebhookRow, 'id' | 'triggers'>[]> {
  return db<Pick<WebhookRow, 'id' | 'triggers'>[]>`select id, triggers from webhooks where is_enabled order by id`
}

/** Enabled webhooks with retries that have been failing since before a time. */
export async function listFailing(db: Db, before: Date): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    select id from webhooks where is_enabled and retries > 0 and failing_since < ${before} order by id`
  return rows.map(({ id }) => id)
}
