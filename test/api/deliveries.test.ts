import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { acknowledge, answer, flood, hang, startReceiver } from '../support/receiver.ts'
import { startServer } from '../support/server.ts'
import { attempts, payloadOf, register } from '../support/webhooks.ts'

test('deliveries are kept with request and response, newest first, and found by id and by guid', async () => {
  await using server = await startServer()
  const { admin } = server
  await using receiver = await startReceiver(answer(200, 'thanks', { 'x-color': 'blue' }))
  const { id } = await register(server, receiver.url, { secret: 'hush' })
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  await ann.post(`/api/apps/${app}/messages`, { text: 'one' })
  await attempts(server, id, 1)
  receiver.behaviour = answer(500, 'broken')
  await ann.post(`/api/apps/${app}/messages`, { text: 'two' })
  const deliveries = await attempts(server, id, 2)

  const guids = receiver.requests.map(({ headers }) => headers['x-service-delivery'])
  expect(deliveries).toMatchObject([
    { guid: guids[1], status: 'failure', status_code: '500', action: 'message_created' },
    { guid: guids[0], status: 'success', status_code: '200', action: 'message_created' },
  ])
  expect(deliveries[1]).not.toHaveProperty('request')
  const { id: number, event_id, duration, delivered_at } = deliveries[1]
  expect(event_id).toBe(payloadOf(receiver.requests[0]!).id)
  expect(duration).toMatch(/^\d+(\.\d{1,3})?$/)
  expect(delivered_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const byId = await admin.get(`/api/webhooks/${id}/deliveries/${number}`)
  const byGuid = await admin.get(`/api/webhooks/${id}/deliveries/${guids[0]}`)
  expect(byGuid.body).toEqual(byId.body)
  expect(byId.body).toMatchObject({
    request: {
      url: receiver.url,
      method: 'POST',
      headers: {
        'X-Service-Delivery': guids[0],
        'X-Service-Signature': receiver.requests[0]!.headers['x-service-signature'],
      },
      body: receiver.requests[0]!.body,
    },
    response: { status_code: '200', headers: { 'x-color': 'blue' }, body: 'thanks' },
  })
})

test('deliveries are filtered by action, and a delivery belongs to one webhook', async () => {
  await using server = await startServer()
  const { admin } = server
  await using receiver = await startReceiver()
  const { id } = await register(server, receiver.url)
  const other = await register(server, receiver.url, { triggers: ['posts'] })
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  const message = await ann.post(`/api/apps/${app}/messages`, { text: 'one' })
  await ann.delete(`/api/messages/${message.body.id}`)
  const deliveries = await attempts(server, id, 2)

  const deleted = await admin.get(`/api/webhooks/${id}/deliveries?action=message_deleted`)
  const oldest = await admin.get(`/api/webhooks/${id}/deliveries?order_by=id&take=1`)
  const counted = await admin.get(`/api/webhooks/${id}/deliveries?count_only=true`)
  const elsewhere = await admin.get(`/api/webhooks/${other.id}/deliveries/${deliveries[0].id}`)
  const none = await admin.get(`/api/webhooks/${other.id}/deliveries`)
  expect(deleted.body).toMatchObject({ count: '1', data: [{ action: 'message_deleted' }] })
  expect(oldest.body).toMatchObject({ start: '0', end: '1', count: '2', data: [{ action: 'message_created' }] })
  expect(counted.body).toEqual({ count: '2' })
  expect(elsewhere.status).toBe(404)
  expect(none.body).toEqual({ start: '0', end: '0', count: '0' })
})

test('a receiver that cannot be reached, hangs, or never ends is filed as such and tried once', async () => {
  await using server = await startServer({ WEBHOOK_SECONDS: '1' })
  await using hanging = await startReceiver(hang)
  await using endless = await startReceiver(flood)
  const unreachable = await register(server, 'http://127.0.0.1:1/')
  const slow = await register(server, hanging.url)
  const flooding = await register(server, endless.url)
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  await ann.post(`/api/apps/${app}/messages`, { text: 'one' })

  const reasons = await Promise.all(
    [unreachable, slow, flooding].map(async ({ id }) => {
      const [delivery] = await attempts(server, id, 1)
      return (await server.admin.get(`/api/webhooks/${id}/deliveries/${delivery.id}`)).body
    }),
  )
  expect(reasons).toMatchObject([
    { status: 'failure', response: { error: expect.stringContaining('ECONNREFUSED') } },
    { status: 'failure', response: { error: 'No complete answer within 1 s' } },
    { status: 'success', status_code: '200', response: { body: 'x'.repeat(65_536) } },
  ])
  expect(reasons[0]).not.toHaveProperty('status_code')
  expect(Number(reasons[1].duration)).toBeGreaterThan(0.9)
  expect(hanging.requests).toHaveLength(1)
})

test('a redirect is a failure and is not followed', async () => {
  await using server = await startServer()
  await using target = await startReceiver()
  await using receiver = await startReceiver(answer(307, '', { location: target.url }))
  const { id } = await register(server, receiver.url)
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  await ann.post(`/api/apps/${app}/messages`, { text: 'one' })

  expect(await attempts(server, id, 1)).toMatchObject([{ status: 'failure', status_code: '307' }])
  expect(target.requests).toHaveLength(0)
})

test('addresses that are denied by configuration are not reached', async () => {
  await using server = await startServer({ WEBHOOK_DENY: '10.0.0.0/8, 127.0.0.0/8' })
  await using receiver = await startReceiver()
  const { id } = await register(server, receiver.url)
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  await ann.post(`/api/apps/${app}/messages`, { text: 'one' })

  expect(await attempts(server, id, 1)).toMatchObject([{ status: 'failure' }])
  expect(receiver.requests).toHaveLength(0)
})

test('a redelivery sends the same bytes under a new guid, to the current URL with the current secret', async () => {
  await using server = await startServer()
  const { admin } = server
  await using before = await startReceiver(answer(500))
  await using afterwards = await startReceiver()
  const { id } = await register(server, before.url, { secret: 'old' })
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'one' })
  const [failed] = await attempts(server, id, 1)
  await admin.patch(`/api/webhooks/${id}`, { payload_url: afterwards.url, secret: 'new' })
  await ann.delete(`/api/messages/${message.id}`)

  const again = await admin.post(`/api/webhooks/${id}/deliveries/${failed.guid}/redeliver`)

  expect(again).toMatchObject({
    status: 202,
    body: { event_id: failed.event_id, action: 'message_created', status: 'queued' },
  })
  expect(again.body.guid).not.toBe(failed.guid)
  const [request] = (await afterwards.take(2)).filter(
    ({ headers }) => headers['x-service-delivery'] === again.body.guid,
  )
  expect(request!.body).toBe(before.requests[0]!.body)
  const digest = createHmac('sha256', 'new').update(request!.body).digest('hex')
  expect(request!.headers['x-service-signature']).toBe(`sha256=${digest}`)
  await eventually(async () => {
    const { body } = await admin.get(`/api/webhooks/${id}/deliveries/${again.body.id}`)
    expect(body).toMatchObject({ status: 'success', status_code: '200' })
  })
})

test('a redelivery of what could not be told comes to nothing again, and holds up nothing', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { admin } = server
  await using receiver = await startReceiver()
  const { id } = await register(server, receiver.url)
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  // As of a node of an earlier version, which did not know of this action.
  const [untold] = await database.sql`
    insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, status, created_at)
    values (${id}, 1, 'messages', 'message_created', ${app}, ${ann.id}, 'failure', now())
    returning guid`

  const again = await admin.post(`/api/webhooks/${id}/deliveries/${untold!.guid}/redeliver`)
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'one' })

  const [request] = await receiver.take(1)
  expect(payloadOf(request).message.id).toBe(message.id)
  const [told, redelivered] = await attempts(server, id, 3)
  expect(told).toMatchObject({ status: 'success' })
  expect(redelivered).toMatchObject({ guid: again.body.guid, status: 'failure' })
})

test('a disabled webhook gets nothing, keeps no record, catches nothing up, and refuses redeliveries', async () => {
  await using server = await startServer()
  const { admin } = server
  await using receiver = await startReceiver()
  const { id } = await register(server, receiver.url)
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  await ann.post(`/api/apps/${app}/messages`, { text: 'one' })
  const [first] = await attempts(server, id, 1)

  await admin.patch(`/api/webhooks/${id}`, { is_enabled: false })
  await ann.post(`/api/apps/${app}/messages`, { text: 'two' })
  const refused = await admin.post(`/api/webhooks/${id}/deliveries/${first.id}/redeliver`)
  await admin.patch(`/api/webhooks/${id}`, { is_enabled: true })
  const { body: third } = await ann.post(`/api/apps/${app}/messages`, { text: 'three' })

  expect(refused).toMatchObject({ status: 400, body: { code: 'webhook-is-disabled' } })
  await attempts(server, id, 2)
  expect(receiver.requests.map(request => payloadOf(request).message.id)).toEqual([expect.any(String), third.id])
})

test('what waits for a webhook is dropped when it is disabled', async () => {
  await using server = await startServer({ WEBHOOK_SECONDS: '1' })
  const { admin } = server
  await using receiver = await startReceiver(hang)
  const { id } = await register(server, receiver.url)
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  for (const text of ['one', 'two', 'three']) await ann.post(`/api/apps/${app}/messages`, { text })
  await receiver.take(1)

  await admin.patch(`/api/webhooks/${id}`, { is_enabled: false })
  receiver.behaviour = acknowledge
  await admin.patch(`/api/webhooks/${id}`, { is_enabled: true })
  const { body: last } = await ann.post(`/api/apps/${app}/messages`, { text: 'four' })

  const requests = await receiver.take(2)
  expect(payloadOf(requests[1]!).message.id).toBe(last.id)
})

test('what came to wait for a webhook while it was disabled is dropped when it is enabled', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { admin } = server
  await using receiver = await startReceiver()
  const { id } = await register(server, receiver.url)
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  await admin.patch(`/api/webhooks/${id}`, { is_enabled: false })
  // As of a commit that began before.
  await database.sql`
    insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, facts, body, created_at)
    values (${id}, 1, 'messages', 'message_created', ${app}, ${ann.id}, '{}', '{"message":{"id":"1"}}', now())`

  await admin.patch(`/api/webhooks/${id}`, { is_enabled: true })
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'one' })

  const [first] = await receiver.take(1)
  expect(payloadOf(first).message.id).toBe(message.id)
  await attempts(server, id, 1)
})

test('deleting a webhook deletes its records, and a receiver that is busy hears nothing more', async () => {
  await using server = await startServer({ WEBHOOK_SECONDS: '1' })
  const { admin } = server
  await using receiver = await startReceiver(hang)
  const { id } = await register(server, receiver.url)
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  for (const text of ['one', 'two']) await ann.post(`/api/apps/${app}/messages`, { text })
  await receiver.take(1)

  const deleted = await admin.delete(`/api/webhooks/${id}`)
  await expect.poll(() => receiver.inFlight, { timeout: 3_000 }).toBe(0)

  expect(deleted.status).toBe(204)
  expect((await admin.get(`/api/webhooks/${id}/deliveries`)).status).toBe(404)
  expect(receiver.requests).toHaveLength(1)
})
