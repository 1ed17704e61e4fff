import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServer } from '../support/server.ts'
import { attempts, payloadOf, register } from '../support/webhooks.ts'

test('a message is told to the webhooks that want messages, and to no others', async () => {
  await using server = await startServer()
  await using wanting = await startReceiver()
  await using other = await startReceiver()
  await register(server, wanting.url, { triggers: ['posts', 'messages'] })
  await register(server, wanting.url, { triggers: ['messages'] })
  await register(server, other.url, { triggers: ['posts'] })
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  const message = await ann.post(`/api/apps/${app}/messages`, { text: 'Hello' })

  const [first, second] = await wanting.take(2)
  expect(first!.headers['x-service-trigger']).toBe('messages')
  expect(JSON.parse(first!.body)).toMatchObject({
    action: 'message_created',
    actor: { id: ann.id, uid: ann.uid, name: 'Ann' },
    message: { id: message.body.id, app: { id: app }, created_by: { id: ann.id }, is_trashed: false },
  })
  expect(second!.body).toBe(first!.body)
  expect(second!.headers['x-service-delivery']).not.toBe(first!.headers['x-service-delivery'])
  expect(other.requests).toHaveLength(0)
})

test('what people write is not told, nor what is a matter of who looks', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await register(server, receiver.url, { secret: 'hush' })
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  const content = { text: 'The **password** is swordfish', metadata: { order: 7 }, tags: ['urgent'] }
  const { id } = (await ann.post(`/api/apps/${app}/messages`, content)).body
  await ann.patch(`/api/messages/${id}`, { text: 'It is swordfish no more' })
  await ann.post(`/api/messages/${id}/trash`)
  const requests = await receiver.take(3)

  for (const request of requests) {
    expect(request.body).not.toMatch(/swordfish|"text"|"html"|"plain"/)
    expect(request.body).not.toMatch(/is_starred|is_subscribed|is_pinned|is_unread|permissions|"members"/)
  }
  expect(payloadOf(requests[0]!).message).toMatchObject({ metadata: { order: 7 }, tags: ['urgent'] })
})

test('edits, trashing, restoring and deleting are told in order, with what they left behind', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await register(server, receiver.url)
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  const { id } = (await ann.post(`/api/apps/${app}/messages`, { text: 'one' })).body
  await ann.patch(`/api/messages/${id}`, { text: 'two' })
  await ann.post(`/api/messages/${id}/trash`)
  await ann.post(`/api/messages/${id}/restore`)
  await ann.delete(`/api/messages/${id}`)

  const payloads = (await receiver.take(5)).map(payloadOf)
  expect(payloads.map(({ action, message }) => [action, message.id, message.is_trashed])).toEqual([
    ['message_created', id, false],
    ['message_updated', id, false],
    ['message_updated', id, true],
    ['message_updated', id, false],
    ['message_deleted', id, undefined],
  ])
  const ids = payloads.map(payload => Number(payload.id))
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
})

test('read markers are told by the apps trigger, set and removed, but not the one that moves by sending', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await register(server, receiver.url, { triggers: ['apps'] })
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)

  const { id } = (await ann.post(`/api/apps/${app}/messages`, { text: 'Hello' })).body
  await ben.put(`/api/apps/${app}/mark`)
  await ben.delete(`/api/apps/${app}/mark`)

  const [set, removed] = (await receiver.take(2)).map(payloadOf)
  expect(set).toMatchObject({ action: 'app_marked', actor: { id: ben.id }, app: { id: app }, marked_id: id })
  expect(set.marked_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  expect(removed).toMatchObject({ action: 'app_marked', app: { id: app } })
  expect(removed).not.toHaveProperty('marked_id')
  expect(removed).not.toHaveProperty('marked_at')
})

test('a delivery is signed with the secret, until that is removed', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  const { id } = await register(server, receiver.url, { secret: 'hush' })
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)

  await ann.post(`/api/apps/${app}/messages`, { text: 'one' })
  await receiver.take(1)
  await server.admin.patch(`/api/webhooks/${id}`, { secret: null })
  await ann.post(`/api/apps/${app}/messages`, { text: 'two' })

  const [signed, unsigned] = await receiver.take(2)
  const digest = createHmac('sha256', 'hush').update(signed!.body).digest('hex')
  expect(signed!.headers).toMatchObject({
    'x-service-signature': `sha256=${digest}`,
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'ServiceBot/32.1.0',
  })
  expect(unsigned!.headers).not.toHaveProperty('x-service-signature')
})

test('an API key acts as the system user', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await register(server, receiver.url)
  const { app } = await server.chatWith(1)

  await server.admin.post(`/api/apps/${app}/messages`, { text: 'Notice' })

  const [request] = await receiver.take(1)
  expect(payloadOf(request)).toMatchObject({ actor: { id: '0', name: 'System' }, message: { created_by: { id: '0' } } })
})

test('a message that is refused is told to nobody', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await register(server, receiver.url)
  const {
    app,
    people: [ann],
    stranger,
  } = await server.chatWith(1)

  const refused = await stranger.post(`/api/apps/${app}/messages`, { text: 'Let me in' })
  await ann.post(`/api/apps/${app}/messages`, { text: 'Hello' })

  expect(refused.status).toBe(404)
  const [request] = await receiver.take(1)
  expect(payloadOf(request).actor.id).toBe(ann.id)
})

test('messages sent at once in many apps reach a receiver once each, those of each app in event order', async () => {
  await using server = await startServer({ WEBHOOK_RATE_PER_SECOND: '10000' })
  await using receiver = await startReceiver()
  const { id } = await register(server, receiver.url)
  const chats = await Promise.all(Array.from({ length: 8 }, () => server.chatWith(1)))

  const sent = await Promise.all(
    Array.from({ length: 25 }, (_, i) => i).flatMap(i =>
      chats.map(({ app, people: [ann] }) => ann.post(`/api/apps/${app}/messages`, { text: `message ${i}` })),
    ),
  )
  await receiver.take(200, 15_000)

  const payloads = receiver.requests.map(payloadOf)
  for (const own of Map.groupBy(payloads, ({ message }) => message.app.id).values()) {
    const ids = own.map(payload => Number(payload.id))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  }
  expect(new Set(payloads.map(({ message }) => message.id))).toEqual(new Set(sent.map(({ body }) => body.id)))
  expect(receiver.requests).toHaveLength(200)
  expect((await attempts(server, id, 200))[0].status).toBe('success')
})

test('a webhook registered on one node is told of what happens on another from the next message on', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using two = await startServer({ DATABASE_URL: database.url })
  await using receiver = await startReceiver()
  const {
    app,
    people: [ann],
  } = await one.chatWith(1)
  await ann.post(`/api/apps/${app}/messages`, { text: 'before' })

  await register(two, receiver.url)
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'after' })

  const [request] = await receiver.take(1)
  expect(payloadOf(request).message.id).toBe(message.id)
})
