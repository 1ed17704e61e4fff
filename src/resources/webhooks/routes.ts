import { randomBytes, randomUUID } from 'node:crypto'
import { openSecret } from './delivery/webhook-secret.ts'
import { NotFound, requireFound } from '../../lib/errors.ts'
import { writeJson } from '../../api/json.ts'
import { toId } from '../../api/reference.ts'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { toPage, toPagedList } from '../../api/page.ts'
import type { Sql } from '../../postgres/sql.ts'
import { actorOf } from '../users/represent.ts'
import { createWebhook, deleteWebhook, redeliver, redeliverFailed, rotateSecret, updateWebhook } from './commands.ts'
import { showDelivery, showDeliverySummary, showWebhook } from './represent.ts'
import {
  AllDeliveryListing,
  Deliveries,
  Delivery,
  DeliveryListing,
  DeliveryPath,
  FailedRedelivery,
  NewWebhook,
  Redelivered,
  RotatedWebhook,
  Webhook,
  WebhookDetails,
  WebhookIsDisabled,
  WebhookListing,
  WebhookPath,
  Webhooks,
  WebhookUpdate,
} from './schema.ts'
import * as records from './delivery/record-store.ts'
import * as store from './store.ts'

const create = route('POST /api/webhooks', {
  summary: 'Register a webhook',
  description:
    'From now on, events of the `triggers` are sent to `payload_url`, signed with `secret`. The secret is never ' +
    'shown again.',
  auth: 'key',
  body: NewWebhook,
  creates: true,
  replies: { 201: Webhook },
  async handle({ body, by, idempotencyKey }, { globalCommands }) {
    const { payload_url, triggers } = body
    const input = { payload_url, triggers, secret: null, is_enabled: true, retries: 0, ...toSettings(body) }
    return reply(201, await globalCommands.run(createWebhook, by, input, idempotencyKey))
  },
})

const get = route('GET /api/webhooks/{id}', {
  summary: 'Get a webhook, and how it fares',
  auth: 'key',
  params: WebhookPath,
  replies: { 200: WebhookDetails },
  problems: [NotFound],
  async handle({ params }, { sql, now }) {
    const webhook = requireFound(await store.findWebhook(sql, toId(params.id)))
    const health = await records.findHealth(sql, webhook.id, new Date(now().getTime() - 24 * 3_600_000))
    return reply(200, { ...showWebhook(webhook), ...health })
  },
})

const update = route('PATCH /api/webhooks/{id}', {
  summary: 'Change a webhook',
  auth: 'key',
  params: WebhookPath,
  body: WebhookUpdate,
  replies: { 200: Webhook },
  problems: [NotFound],
  async handle({ params, body, by }, { globalCommands }) {
    const { payload_url, triggers } = body
    const change = {
      ...(payload_url !== undefined && { payload_url }),
      ...(triggers !== undefined && { triggers }),
      ...toSettings(body),
    }
    return reply(200, await globalCommands.run(updateWebhook, by, { id: toId(params.id), change }))
  },
})

const list = route('GET /api/webhooks', {
  summary: 'List webhooks',
  auth: 'key',
  query: WebhookListing,
  replies: { 200: Webhooks },
  async handle({ query }, { sql }) {
    const page = toPage(query, store.orderFields, 'id')
    const count = await store.countWebhooks(sql, page)
    const webhooks = page.countOnly ? [] : await store.listWebhooks(sql, page)
    return reply(200, toPagedList(page, count, webhooks.map(showWebhook)))
  },
})

const remove = route('DELETE /api/webhooks/{id}', {
  summary: 'Delete a webhook and the records of its deliveries',
  auth: 'key',
  params: WebhookPath,
  replies: { 204: null },
  problems: [NotFound],
  async handle({ params, by }, { globalCommands }) {
    await globalCommands.run(deleteWebhook, by, toId(params.id))
    return reply(204)
  },
})

const listOfDeliveries = route('GET /api/webhooks/{id}/deliveries', {
  summary:
    'List the recent deliveries of a webhook that were attempted: first what is attempted again, then newest first',
  auth: 'key',
  isHeavy: true,
  params: WebhookPath,
  query: DeliveryListing,
  replies: { 200: Deliveries },
  problems: [NotFound],
  async handle({ params, query }, { sql }) {
    const webhook = toId(params.id)
    if ((await store.findWebhook(sql, webhook)) === null) throw NotFound()
    return reply(200, await listPage(sql, { ...query, webhook }))
  },
})

const getDelivery = route('GET /api/webhooks/{id}/deliveries/{delivery}', {
  summary: 'Get a delivery with its request and response',
  auth: 'key',
  params: DeliveryPath,
  replies: { 200: Delivery },
  problems: [NotFound],
  async handle({ params }, { sql }) {
    const delivery = requireFound(await records.findDelivery(sql, toId(params.id), toDeliveryRef(params.delivery)))
    return reply(200, showDelivery(delivery))
  },
})

const sendAgain = route('POST /api/webhooks/{id}/deliveries/{delivery}/redeliver', {
  summary: 'Send a delivery again, under a new guid',
  auth: 'key',
  params: DeliveryPath,
  creates: true,
  replies: { 202: Delivery },
  problems: [NotFound, WebhookIsDisabled],
  async handle({ params, by, idempotencyKey }, { globalCommands }) {
    const input = { webhook: toId(params.id), ref: toDeliveryRef(params.delivery) }
    return reply(202, showDelivery(await globalCommands.run(redeliver, by, input, idempotencyKey)))
  },
})

const listAll = route('GET /api/deliveries', {
  summary:
    'List the recent deliveries of all webhooks that were attempted: first what is attempted again, then newest first',
  auth: 'key',
  isHeavy: true,
  query: AllDeliveryListing,
  replies: { 200: Deliveries },
  async handle({ query }, { sql }) {
    return reply(200, await listPage(sql, query))
  },
})

const sendFailedAgain = route('POST /api/webhooks/{id}/redeliver', {
  summary: 'Send again what has failed, and has not been sent again since; 1,000 deliveries at most, oldest first',
  auth: 'key',
  params: WebhookPath,
  body: FailedRedelivery,
  creates: true,
  replies: { 202: Redelivered },
  problems: [NotFound, WebhookIsDisabled],
  async handle({ params, body, by, idempotencyKey }, { globalCommands }) {
    const input = { webhook: toId(params.id), since: body.since ?? undefined, until: body.until ?? undefined }
    return reply(202, { count: await globalCommands.run(redeliverFailed, by, input, idempotencyKey) })
  },
})

const rotate = route('POST /api/webhooks/{id}/rotate', {
  summary: 'Give a webhook a new secret, which is shown this once; the one before signs along for 24 hours',
  auth: 'key',
  params: WebhookPath,
  replies: { 200: RotatedWebhook },
  problems: [NotFound],
  async handle({ params, by }, { globalCommands }) {
    // In the format of Standard Webhooks.
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    const webhook = await globalCommands.run(rotateSecret, by, { id: toId(params.id), secret })
    return reply(200, { ...webhook, secret })
  },
})

const ping = 'ping'

const test = route('POST /api/webhooks/{id}/test', {
  summary: 'Send the action ping to a webhook, beside its queue, and wait for what comes of it',
  auth: 'key',
  params: WebhookPath,
  replies: { 200: Delivery },
  problems: [NotFound],
  async handle({ params, by, origin }, { sql, userCache, pings, vault, now }) {
    const webhook = requireFound(await store.findWebhook(sql, toId(params.id)))
    const { id, payload_url: url, old_secret_until } = webhook
    const isOldGood = old_secret_until !== null && old_secret_until > now()
    const guid = randomUUID()
    const outcome = await pings.send({
      url,
      secret: openSecret(vault, webhook.secret, id),
      oldSecret: isOldGood ? openSecret(vault, webhook.old_secret, id, 'old_secret') : null,
      guid,
      trigger: ping,
      body: writeJson({ id: 0, action: ping, actor: actorOf(userCache.show(by.user), origin) }, 'string'),
    })
    const filed = { webhook: id, guid, trigger: ping, action: ping, now: now() }
    return reply(200, showDelivery(await records.insertAttempt(sql, filed, outcome)))
  },
})

async function listPage(sql: Sql, query: AllDeliveryListing): Promise<object> {
  const page = toPage(query, store.orderFields, 'id desc')
  const count = await records.countDeliveries(sql, query, page)
  const retriedFirst = query.order_by === undefined
  const deliveries = page.countOnly ? [] : await records.listDeliveries(sql, query, page, retriedFirst)
  return toPagedList(page, count, deliveries.map(showDeliverySummary))
}

/** The given settings, from either spelling, with either form of empty values. */
function toSettings({
  secret,
  is_enabled,
  enabled,
  retries,
}: Pick<WebhookUpdate, 'secret' | 'is_enabled' | 'enabled' | 'retries'>) {
  const isEnabled = is_enabled ?? enabled
  return {
    ...(secret !== undefined && { secret: secret === '' ? null : secret }),
    ...(isEnabled !== undefined && { is_enabled: isEnabled }),
    ...(retries !== undefined && { retries }),
  }
}

function toDeliveryRef(text: string): records.DeliveryRef {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? { guid: text } : { id: toId(text) }
}

export const routes = [
  create,
  get,
  update,
  list,
  remove,
  listOfDeliveries,
  getDelivery,
  sendAgain,
  listAll,
  sendFailedAgain,
  rotate,
  test,
]
