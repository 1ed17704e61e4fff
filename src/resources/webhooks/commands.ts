import { directCommand, type DirectWork } from '../../actors/direct.ts'
import { audit, differences } from '../../audit/audit.ts'
import { NotFound } from '../../lib/errors.ts'
import { sealSecret } from '../../delivery/webhook-secret.ts'
import { WebhookIsDisabled } from './schema.ts'
import * as store from './store.ts'

/** What the API shows of a webhook. The secret is not part of it, nor of the answers that are kept for repetition. */
export type ShownWebhook = Omit<store.WebhookRow, 'secret'>

/** Registers a webhook: it gets the events that are committed from now on. */
export const createWebhook = directCommand(
  'createWebhook',
  async (work: DirectWork, input: store.NewWebhookRow): Promise<ShownWebhook> => {
    const id = await store.nextWebhookId(work.sql)
    const webhook = { ...input, id, secret: sealSecret(work.vault, input.secret, id) }
    await store.insertWebhook(work.sql, webhook, work.now)
    const { triggers, is_enabled } = webhook
    audit(work, { action: 'webhook_created', target: toTarget(webhook), after: { triggers, is_enabled } })
    work.changed('webhook_changed', 'webhook', webhook.id)
    return withoutSecret(webhook)
  },
)

export interface WebhookChange {
  id: number
  change: Partial<store.NewWebhookRow>
}

/** Changes a webhook. What waits for one that is disabled is dropped, and nothing is caught up when it is enabled. */
export const updateWebhook = directCommand(
  'updateWebhook',
  async (work: DirectWork, { id, change }: WebhookChange): Promise<ShownWebhook> => {
    const before = await store.lockWebhook(work.sql, id)
    if (before === null) throw NotFound()
    const { secret = undefined } = change
    const sealed = secret === undefined ? before.secret : sealSecret(work.vault, secret, id)
    const after = { ...before, ...change, secret: sealed }
    await store.updateWebhook(work.sql, after)
    // On enabling too: a commit that began before the webhook was disabled may have queued something since.
    if (after.is_enabled !== before.is_enabled) await store.removeQueued(work.sql, id)
    const changed = differences(before, after, ['triggers', 'is_enabled'])
    if (changed !== null) audit(work, { action: 'webhook_updated', target: toTarget(after), ...changed })
    work.changed('webhook_changed', 'webhook', id)
    return withoutSecret(after)
  },
)

/** Deletes a webhook with the records of its deliveries. */
export const deleteWebhook = directCommand('deleteWebhook', async (work: DirectWork, id: number): Promise<void> => {
  const webhook = await store.lockWebhook(work.sql, id)
  if (webhook === null) throw NotFound()
  await store.removeWebhook(work.sql, id)
  audit(work, { action: 'webhook_deleted', target: toTarget(webhook) })
  work.changed('webhook_changed', 'webhook', id)
})

export interface Redelivery {
  webhook: number
  ref: store.DeliveryRef
}

/** Queues the bytes of a delivery again, under a new guid. Refuses with 400 where the webhook is disabled. */
export const redeliver = directCommand(
  'redeliver',
  async (work: DirectWork, { webhook, ref }: Redelivery): Promise<store.DeliveryRow> => {
    const stored = await store.lockWebhook(work.sql, webhook)
    if (stored === null) throw NotFound()
    if (!stored.is_enabled) throw WebhookIsDisabled({ webhook })
    const copy = await store.copyDelivery(work.sql, { webhook, ref, now: work.now })
    if (copy === null) throw NotFound()
    audit(work, { action: 'delivery_repeated', target: toTarget(stored), after: { delivery: copy.id } })
    work.changed('delivery_queued', 'webhook', webhook)
    return copy
  },
)

/** A webhook as the audit log names it: the path of its address may be a secret. */
function toTarget({ id, payload_url }: store.WebhookRow) {
  return { type: 'webhook', id, name: new URL(payload_url).origin }
}

function withoutSecret({ id, payload_url, triggers, is_enabled }: store.WebhookRow): ShownWebhook {
  return { id, payload_url, triggers, is_enabled }
}
