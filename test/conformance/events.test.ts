import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { create } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver, type Received, type Receiver } from '../support/receiver.ts'
import { payloadOf } from '../support/webhooks.ts'
import { createWorld, type World } from './world.ts'

let world: World
let receiver: Receiver
let hook: Body
const secret = 'a secret of ours'
const triggers = ['apps', 'comments', 'files', 'messages', 'notifications', 'polls', 'posts', 'reactions']
beforeAll(async () => {
  world = await createWorld()
  receiver = await startReceiver()
  hook = await create(world.server.admin, '/api/webhooks', { payload_url: receiver.url, triggers, secret })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})

/** The deliveries to some receiver that something brings about, when there are so many. */
async function told(count: number, act: () => Promise<unknown>): Promise<[string, Body][]> {
  const before = receiver.requests.length
  await act()
  const all = await receiver.take(before + count)
  return all.slice(before).map(request => [String(request.headers['x-service-trigger']), payloadOf(request)])
}

/** The triggers, the actions of each in order, and what its payloads have beside id, action and actor. */
type Case = [string, (world: World) => Promise<{ act: () => Promise<unknown>; actions: string[]; extra: string[] }>]

const content = (plural: 'messages' | 'posts' | 'comments', type: string): Case => [
  plural,
  async ({ app, ann }) => {
    const { id } = await app(type)
    const entity = plural.slice(0, -1)
    return {
      async act() {
        const { id: item } = await create(ann, `/api/apps/${id}/${plural}`, { text: 'swordfish' })
        await ann.patch(`/api/${plural}/${item}`, { text: 'swordfish again' })
        await ann.delete(`/api/${plural}/${item}`)
      },
      actions: [`${entity}_created`, `${entity}_updated`, `${entity}_deleted`],
      extra: [entity],
    }
  },
]

const cases: Case[] = [
  [
    'apps',
    async ({ message, ann }) => {
      const { app, id } = await message()
      await ann.delete(`/api/apps/${app.id}/mark`)
      return {
        act: () => ann.put(`/api/apps/${app.id}/mark?message_id=${id}`),
        actions: ['app_marked'],
        extra: ['app', 'marked_at', 'marked_id'],
      }
    },
  ],
  content('comments', 'comments'),
  [
    'files',
    async ({ app, blob, ann }) => {
      const { id } = await app('files')
      const { id: blob_id } = await blob()
      return {
        async act() {
          const { id: file } = await create(ann, `/api/apps/${id}/files`, { blob_id })
          await ann.patch(`/api/files/${file}`, { name: 'b.png' })
          await ann.delete(`/api/files/${file}`)
        },
        actions: ['file_created', 'file_updated', 'file_deleted'],
        extra: ['file'],
      }
    },
  ],
  content('messages', 'chat'),
  [
    'polls',
    async ({ post, ann }) => {
      const { options } = await post({ text: 'Which?', options: [{ text: 'swordfish' }] })
      const path = `/api/options/${options.data[0].id}/vote`
      return {
        async act() {
          await ann.post(path)
          await ann.post(path)
        },
        actions: ['vote_added', 'vote_removed'],
        extra: ['option', 'poll'],
      }
    },
  ],
  content('posts', 'posts'),
  [
    'reactions',
    async ({ post, ann }) => {
      const { id } = await post()
      return {
        async act() {
          await ann.post(`/api/posts/${id}/reactions`, { content: '🎉' })
          await ann.delete(`/api/posts/${id}/reactions`)
        },
        actions: ['reaction_added', 'reaction_removed'],
        extra: ['entity', 'reaction'],
      }
    },
  ],
]

test.each(cases)(
  '%s are told with their actions and properties, and nothing of what was written',
  async (name, make) => {
    const setUp = receiver.requests.length
    const { act, actions, extra } = await make(world)
    await settled(setUp)

    const payloads = await told(actions.length, act)

    expect(payloads.map(([trigger, { action }]) => [trigger, action])).toEqual(actions.map(action => [name, action]))
    for (const [, payload] of payloads) {
      expect(Object.keys(payload).toSorted()).toEqual(['action', 'actor', 'id', ...extra].toSorted())
      expect(payload).toMatchObject({
        id: expect.stringMatching(/^\d+$/),
        actor: { id: world.ann.id, uid: world.ann.uid },
      })
      expect(JSON.stringify(payload)).not.toMatch(/swordfish|"(text|html|plain)"/)
    }
  },
)

/** Waits until what was made for a test has been told as well. */
async function settled(before: number): Promise<void> {
  const { admin } = world.server
  const { id } = await create(admin, '/api/apps', { type: 'chat' })
  const { id: last } = await create(admin, `/api/apps/${id}/messages`, { text: 'last' })
  await eventually(() => {
    const isLast = (request: Received) => payloadOf(request).message?.id === last
    expect(receiver.requests.slice(before).some(isLast)).toBe(true)
  })
}

test('notifications are told when they are made, marked, and marked together', async () => {
  const { server } = world
  const [one, two] = [await server.person(), await server.person()]
  const { id } = await create(one, '/api/apps', { type: 'private_chat', members: [two.id] })
  const ofNotifications = async (count: number) =>
    eventually(() => {
      const all = receiver.requests.filter(({ headers }) => headers['x-service-trigger'] === 'notifications')
      expect(all).toHaveLength(count)
      return payloadOf(all.at(-1)!)
    })

  await create(one, `/api/apps/${id}/messages`, { text: 'swordfish' })
  const made = await ofNotifications(1)
  await two.put(`/api/notifications/${made.notification.id}/mark`)
  const marked = await ofNotifications(2)
  await create(one, `/api/apps/${id}/messages`, { text: 'swordfish' })
  await ofNotifications(3)
  await two.put('/api/notifications/mark')
  const all = await ofNotifications(4)

  expect(made).toMatchObject({
    action: 'notification_created',
    actor: { id: one.id },
    notification: { user: { id: two.id } },
  })
  expect(marked).toMatchObject({ action: 'notification_updated', notification: { is_unread: false } })
  expect(all.action).toBe('notifications_marked')
  expect(JSON.stringify([made, marked, all])).not.toMatch(/swordfish|"(text|html|plain|args)"/)
})

test('a delivery says what it is, and is signed where there is a secret', async () => {
  const { message, server } = world
  await using second = await startReceiver()
  await create(server.admin, '/api/webhooks', { payload_url: second.url, triggers: ['messages'] })

  const { id } = await message()
  const [bare] = await second.take(1)
  const signed = await eventually(() => {
    const found = receiver.requests.find(request => payloadOf(request).message?.id === id)
    expect(found).toBeDefined()
    return found!
  })

  for (const { method, headers } of [bare, signed]) {
    expect(method).toBe('POST')
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'user-agent': expect.stringMatching(/^ServiceBot\//),
      'x-service-trigger': 'messages',
      'x-service-delivery': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    })
  }
  const digest = createHmac('sha256', secret).update(signed.body).digest('hex')
  expect(signed.headers['x-service-signature']).toBe(`sha256=${digest}`)
  expect(bare.headers).not.toHaveProperty('x-service-signature')
  expect(bare.headers['x-service-delivery']).not.toBe(signed.headers['x-service-delivery'])
  expect(payloadOf(bare)).toEqual(payloadOf(signed))
})

test('a webhook keeps its recent deliveries, with request and response', async () => {
  const { admin } = world.server
  const { id } = await world.message()
  const path = `/api/webhooks/${hook.id}/deliveries`
  const latest = await eventually(async () => {
    const { body } = await admin.get(`${path}?take=1`)
    const { body: whole } = await admin.get(`${path}/${body.data[0].id}`)
    expect(JSON.parse(whole.request.body).message.id).toBe(id)
    return whole
  })

  expect(latest).toMatchObject({
    status: 'success',
    status_code: '200',
    delivered_at: expect.stringMatching(/Z$/),
    duration: expect.stringMatching(/^\d+(\.\d+)?$/),
    request: { url: receiver.url, method: 'POST', headers: { 'X-Service-Trigger': 'messages' } },
    response: { status_code: '200', body: 'ok' },
  })
})
