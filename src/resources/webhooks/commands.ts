import { globalCommand, type GlobalWork } from '../../engine/global/command.ts'
import { audit, differences } from '../../audit/audit.ts'
import { requireFound } from '../../lib/errors.ts'
import { openSecret, sealSecret } from './delivery/webhook-secret.ts'
import { showWebhook, type ShownWebhook } from './represent.ts'
import { WebhookIsDisabled } from './schema.ts'
import * as records from './delivery/record-store.ts'
import * as store from './store.ts'

/** Registers a webhook for the events committed from now on. */
export const createWebhook = globalCommand(
  'createWebhook',
  async (work: GlobalWork, input: store.NewWebhookRow): Promise<ShownWebhook> => {
    const id = await store.nextWebhookId(work.sql)
    const webhook = { ...input, id, secret: sealSecret(work.vault, input.secret, id) }
    await store.insertWebhook(work.sql, webhook, work.now)
    const { triggers, is_enabled, retries } = webhook
    audit(work, { action: 'webhook_created', target: toTarget(webhook), after: { triggers, is_enabled, retries } })
    work.changed('webhook_changed', 'webhook', webhook.id)
    return showWebhook({ ...webhook, failing_since: null, disabled_reason: null })
  },
)

export interface WebhookChange {
  id: number
  change: Partial<store.NewWebhookRow>
}

/** Changes a webhook. Disabling drops its queued deliveries; enabling does not catch up on earlier events. */
export const updateWebhook = globalCommand(
  'updateWebhook',
  async (work: GlobalWork, { id, change }: WebhookChange): Promise<ShownWebhook> => {
    const before = await requireWebhook(work, id)
    const { secret } = change
    const sealed = secret === undefined ? before.secret : sealSecret(work.vault, secret, id)
    // A webhook that is enabled again starts with a clean record.
    const isRevived = change.is_enabled === true && !before.is_enabled
    const fresh = isRevived ? { failing_since: null, disabled_reason: null } : {}
    const after = { ...before, ...change, ...fresh, secret: sealed }
    await store.updateWebhook(work.sql, after)
    // On enabling too: a commit that began before the webhook was disabled may have queued deliveries since.
    if (after.is_enabled !== before.is_enabled) await records.removeQueued(work.sql, id)
    const changed = differences(before, after, ['triggers', 'is_enabled', 'retries'])
    if (changed !== null) audit(work, { action: 'webhook_updated', target: toTarget(after), ...changed })
    work.changed('webhook_changed', 'webhook', id)
    return showWebhook(after)
  },
)

/** How long the previous secret signs too: time to update all receivers. */
const oldSecretMs = 24 * 3_600_000

/** Gives a webhook a new secret, which signs from now on; the previous one signs too for a day. */
export const rotateSecret = globalCommand(
  'rotateSecret',
  async (work: GlobalWork, { id, secret }: { id: number; secret: string }): Promise<ShownWebhook> => {
    const before = await requireWebhook(work, id)
    const old = openSecret(work.vault, before.secret, id)
    const after = {
      ...before,
      secret: sealSecret(work.vault, secret, id),
      old_secret: sealSecret(work.vault, old, id, 'old_secret'),
      old_secret_until: new Date(work.now.getTime() + oldSecretMs),
    }
    await store.updateWebhook(work.sql, after)
    audit(work, { action: 'webhook_secret_rotated', target: toTarget(after) })
    work.changed('webhook_changed', 'webhook', id)
    return showWebhook(after)
  },
)

/** Disables a webhook that has failed for too long, with the reason. Does nothing where it has succeeded meanwhile. */
export const disableFailing = globalCommand(
  'disableFailing',
  async (work: GlobalWork, { id, failingBefore }: { id: number; failingBefore: Date }): Promise<boolean> => {
    const before = await store.lockWebhook(work.sql, id)
    if (before === null || !before.is_enabled || before.failing_since === null) return false
    if (before.failing_since >= failingBefore) return false
    const since = before.failing_since.toISOString().slice(0, 16)
    const reason = `No delivery has succeeded since ${since}Z`
    await store.updateWebhook(work.sql, { ...before, is_enabled: false, disabled_reason: reason })
    await records.removeQueued(work.sql, id)
    audit(work, { action: 'webhook_disabled', target: toTarget(before), after: { reason } })
    work.changed('webhook_changed', 'webhook', id)
    return true
  },
)

/** Deletes a webhook with the records of its deliveries. */
export const deleteWebhook = globalCommand('deleteWebhook', async (work: GlobalWork, id: number): Promise<void> => {
  const webhook = await requireWebhook(work, id)
  await store.removeWebhook(work.sql, id)
  audit(work, { action: 'webhook_deleted', target: toTarget(webhook) })
  work.changed('webhook_changed', 'webhook', id)
})

export interface Redelivery {
  webhook: number
  ref: records.DeliveryRef
}

/** Queues the body of a delivery again, under a new guid. 400 where the webhook is disabled. */
export const redeliver = globalCommand(
  'redeliver',
  async (work: GlobalWork, { webhook, ref }: Redelivery): Promise<records.DeliveryRow> => {
    const stored = await requireEnabled(work, webhook)
    const copy = requireFound(await records.copyDelivery(work.sql, { webhook, ref, now: work.now }))
    audit(work, { action: 'delivery_repeated', target: toTarget(stored), after: { delivery: copy.id } })
    work.changed('delivery_queued', 'webhook', webhook)
    return copy
  },
)

export interface FailedRedelivery {
  webhook: number
  since: Date | undefined
  until: Date | undefined
}

/** The most deliveries that one call queues again. */
const mostRedelivered = 1_000

/** Queues failed deliveries again, oldest first; returns how many. 400 where the webhook is disabled. */
export const redeliverFailed = globalCommand(
  'redeliverFailed',
  async (work: GlobalWork, { webhook, since, until }: FailedRedelivery): Promise<number> => {
    const stored = await requireEnabled(work, webhook)
    const wanted = { webhook, since, until, limit: mostRedelivered, now: work.now }
    const count = await records.copyFailed(work.sql, wanted)
    if (count === 0) return 0
    audit(work, { action: 'deliveries_repeated', target: toTarget(stored), after: { count } })
    work.changed('delivery_queued', 'webhook', webhook)
    return count
  },
)

/** A webhook as a target in the audit log: without the path of its URL, which may be a secret. */
function toTarget({ id, payload_url }: Pick<store.WebhookRow, 'id' | 'payload_url'>) {
  return { type: 'webhook', id, name: new URL(payload_url).origin }
}

async function requireWebhook({ sql }: GlobalWork, id: number): Promise<store.WebhookRow> {
  const webhook = requireFound(await store.lockWebhook(sql, id))
  return webhook
}

async function requireEnabled(work: GlobalWork, id: number): Promise<store.WebhookRow> {
  const webhook = await requireWebhook(work, id)
  if (!webhook.is_enabled) throw WebhookIsDisabled({ webhook: id })
  return webhook
}
