import { z } from 'zod'
import { problem } from '../../lib/errors.ts'
import { IdQuery, Int, MomentInput, pagedList, Timestamp, WebAddressInput } from '../../api/shape.ts'
import { Listing } from '../../api/page.ts'

/** The triggers. More may be added: receivers must check the trigger before they process a delivery. */
export const triggers = [
  'agents',
  'apps',
  'audit',
  'comments',
  'files',
  'messages',
  'notifications',
  'polls',
  'posts',
  'reactions',
] as const

const Trigger = z.enum(triggers)

export const WebhookPath = z.object({ id: z.string() })
export const DeliveryPath = WebhookPath.extend({ delivery: z.string().describe('Id or guid of a delivery') })

const fields = {
  payload_url: WebAddressInput.describe('Where deliveries are posted to'),
  triggers: z
    .array(Trigger)
    .min(1, 'must name at least one trigger')
    .max(500)
    .transform(names => [...new Set(names)])
    .describe('Only events of these triggers are delivered'),
  secret: z
    .string()
    .max(256)
    .nullish()
    .describe('Signs the deliveries; never shown. null or empty: they are not signed'),
  enabled: z.boolean().optional().describe('Another name of is_enabled'),
  is_enabled: z.boolean().optional().describe('Default: true'),
  retries: z
    .int()
    .min(0)
    .max(12)
    .optional()
    .describe(
      'Further attempts where one fails, each after a longer wait; events of the same app wait for it. Default: 0. ' +
        'A webhook with retries that has failed for five days is disabled',
    ),
}

export const NewWebhook = z.object(fields)
export type NewWebhook = z.output<typeof NewWebhook>

export const WebhookUpdate = z.object({
  ...fields,
  payload_url: fields.payload_url.optional(),
  triggers: fields.triggers.optional(),
})
export type WebhookUpdate = z.output<typeof WebhookUpdate>

export const Webhook = z
  .object({
    id: Int,
    payload_url: z.string(),
    triggers: z.array(Trigger),
    is_enabled: z.boolean(),
    retries: Int,
    failing_since: Timestamp.optional().describe('Since when no delivery has succeeded; absent where the last one has'),
    disabled_reason: z.string().optional().describe('Why the server has disabled it'),
  })
  .meta({ id: 'Webhook' })
export const WebhookDetails = Webhook.extend({
  queued: Int.describe('Deliveries that wait'),
  oldest_queued_at: Timestamp.optional(),
  failures_24h: Int,
  last_success_at: Timestamp.optional(),
  last_attempt_at: Timestamp.optional(),
  last_error: z.string().optional().describe('Why the last attempt has failed; absent where it has not'),
  next_attempt_at: Timestamp.optional().describe('When the next delivery that has failed is attempted again'),
}).meta({ id: 'WebhookDetails' })
export const RotatedWebhook = Webhook.extend({
  secret: z.string().describe('The new secret, shown this once; the one before signs along for 24 hours'),
}).meta({ id: 'RotatedWebhook' })
export const Webhooks = pagedList(Webhook)

export const WebhookListing = Listing

export const DeliveryListing = Listing.extend({
  action: z.string().max(256).optional().describe('Only this action'),
  status: z
    .enum(['success', 'failure', 'queued'])
    .optional()
    .describe(
      'success, failure: what was attempted for the last time; queued: what waits for its first attempt, or for another ' +
        'one. Without it, all that was attempted',
    ),
  event: IdQuery.optional().describe('Only of this event, the id in the payload'),
  since: MomentInput.optional().describe('Attempted then or later'),
  until: MomentInput.optional().describe('Attempted before then'),
})
export const AllDeliveryListing = DeliveryListing.extend({
  webhook: IdQuery.optional().describe('Only of this webhook'),
})
export type AllDeliveryListing = z.output<typeof AllDeliveryListing>

export const FailedRedelivery = z.object({
  status: z.literal('failure').describe('What is to be sent again'),
  since: MomentInput.nullish(),
  until: MomentInput.nullish(),
})
export const Redelivered = z.object({ count: Int.describe('Deliveries that were queued, 1,000 at most') })

const Headers = z.record(z.string(), z.string())
const Seconds = z
  .union([z.string().regex(/^\d+(\.\d+)?$/), z.number()])
  .meta({ description: 'Seconds with fraction, as a string by default' })

export const DeliverySummary = z
  .object({
    id: Int,
    webhook_id: Int,
    guid: z.uuid().describe('The X-Service-Delivery header'),
    event_id: Int.describe('The id in the payload, shared by all deliveries of the event'),
    action: z.string(),
    delivered_at: Timestamp.optional().describe('When it was attempted last'),
    duration: Seconds.optional(),
    status: z.enum(['queued', 'success', 'failure']),
    status_code: Int.optional().describe('What the receiver answered; absent where it did not'),
    error: z.string().optional().describe('Why the last attempt had no complete answer'),
    attempts: Int,
    next_attempt_at: Timestamp.optional().describe('When it is attempted again'),
  })
  .meta({ id: 'DeliverySummary' })

export const Delivery = DeliverySummary.extend({
  request: z
    .object({ url: z.string(), method: z.string(), headers: Headers, body: z.string() })
    .optional()
    .describe('What was sent'),
  response: z
    .object({
      status_code: Int.optional(),
      headers: Headers.optional(),
      body: z.string().optional().describe('The first 64 KiB'),
      error: z.string().optional().describe('Why there was no complete answer'),
    })
    .optional(),
}).meta({ id: 'Delivery' })

export const Deliveries = pagedList(DeliverySummary)

export const WebhookIsDisabled = problem(400, 'webhook-is-disabled', 'A disabled webhook gets no deliveries.')
