import { expect, test } from 'vitest'
import type { Sql } from '../../src/postgres/sql.ts'
import { client } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { joinHub } from '../support/hub.ts'
import { startPair, type Pair } from '../support/pair.ts'
import { listen } from '../support/realtime.ts'
import type { Server } from '../support/server.ts'

/** What one node does is told of by the other at most this late where there is no Redis. */
const newsMs = 2_000

/** How often a node looks by itself. */
const lookMs = 1_000

const ways = [
  ['with Redis', true],
  ['without Redis', false],
] as const

test.each(ways)(
  '%s, users are notified of apps that appear and disappear through another node',
  async (_, hasRedis) => {
    await using pair = await startPair({ hasRedis })
    // The other node has no app in memory, only people's sessions.
    const { here, there } = pair
    const [ann, ben] = [await here.person('Ann'), await here.person('Ben')]
    await using inbox = await listen(there.url, { token: ben.token })
    const { admin } = here
    const hear = async (type: string) => (await inbox.take(1, type, newsMs))[0]

    const startedAtMs = performance.now()
    const { body: app } = await admin.post('/api/apps', { type: 'chat_room', members: [ann.id, ben.id] })
    const path = `/api/apps/${app.id}`
    const told = [await hear('app_added')]
    await admin.post(`${path}/trash`)
    told.push(await hear('app_removed'))
    await admin.post(`${path}/restore`)
    told.push(await hear('app_added'))
    await admin.delete(`${path}/members/${ben.id}`)
    told.push(await hear('app_removed'))
    await admin.put(`${path}/members/${ben.id}`, { access: 'read' })
    told.push(await hear('app_added'))
    await admin.put(`${path}/members/${ben.id}`, { access: 'none' })
    told.push(await hear('app_removed'))
    await admin.put(`${path}/members/${ben.id}`, { access: 'write' })
    told.push(await hear('app_added'))
    await admin.patch(path, { name: 'Renamed' })
    await admin.put(`${path}/members/${ben.id}`, { access: 'read' })
    await admin.delete(path)
    told.push(await hear('app_removed'))
    const tookMs = performance.now() - startedAtMs

    // Each change was made when the one before had been heard: by looks alone, that takes a look for each.
    if (hasRedis) expect(tookMs).toBeLessThan(7 * lookMs)
    expect(told.map(frame => frame.app_id)).toEqual(Array.from({ length: 8 }, () => app.id))
    expect(inbox.frames.filter(({ type }) => type !== 'app_changed')).toEqual([])
  },
)

test('a user who was kept out of an app, and is removed and added again, is notified of the app that appears', async () => {
  await using pair = await startPair({ hasRedis: false })
  const { here, there } = pair
  const ben = await here.person('Ben')
  await using inbox = await listen(there.url, { token: ben.token })
  const { body: app } = await here.admin.post('/api/apps', { type: 'chat_room', members: [ben.id] })
  const member = `/api/apps/${app.id}/members/${ben.id}`
  await inbox.take(1, 'app_added', newsMs)
  await here.admin.put(member, { access: 'none' })
  await inbox.take(1, 'app_removed', newsMs)

  await here.admin.delete(member)
  await here.admin.put(member, { access: 'read' })

  expect(await inbox.take(1, 'app_added', newsMs)).toMatchObject([{ app_id: app.id }])
  expect(inbox.frames).toEqual([])
})

test.each(ways)('%s, users get what is unread in apps that only another node knows', async (_, hasRedis) => {
  await using pair = await startPair({ hasRedis })
  const { here, there } = pair
  const {
    app,
    people: [ann, ben],
    stranger,
  } = await here.chatWith(2)
  await using inbox = await listen(there.url, { token: ben.token, protocol: 'msgpack', scalars: 'number' })
  await using nobody = await listen(there.url, { token: stranger.token })
  const hear = async () => (await inbox.take(1, 'unread', newsMs))[0]

  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'hello' })
  const unread = await hear()
  await ben.put(`/api/apps/${app}/mark`)
  const read = await hear()
  await ben.delete(`/api/apps/${app}/mark`)
  const again = await hear()
  await ann.delete(`/api/messages/${message.id}`)
  const gone = await hear()

  const [app_id, id] = [Number(app), Number(message.id)]
  expect(unread).toEqual({ type: 'unread', app_id, is_unread: true, last_id: id })
  expect(read).toEqual({ type: 'unread', app_id, is_unread: false, last_id: id, marked_id: id })
  expect(again).toEqual({ type: 'unread', app_id, is_unread: true, last_id: id })
  expect(gone).toEqual({ type: 'unread', app_id, is_unread: false })
  await nobody.settle()
  expect(nobody.frames).toEqual([])
})

test.each(ways)('%s, clients of the hub get the messages of their apps through any node', async (_, hasRedis) => {
  await using pair = await startPair({ hasRedis })
  const { here, there } = pair
  const [ann, ben] = [await here.person('Ann'), await here.person('Ben')]
  await using hub = await joinHub(there.url, { token: () => ben.token })
  for (const name of ['app_created', 'message_created', 'app_marked']) await hub.subscribe(name)

  const { body: app } = await ann.post('/api/apps', { type: 'chat_room', members: [ben.id] })
  for (const text of ['one', 'two', 'three']) await ann.post(`/api/apps/${app.id}/messages`, { text })
  await ben.put(`/api/apps/${app.id}/mark`)
  await hub.hear('app_marked')

  const heard = hub.told.map(({ name, payload }) => (name === 'app_created' ? name : payload.message.text))
  expect(heard).toEqual(['app_created', 'one', 'two', 'three'])
})

test('however much was written at once, all of it is sent', async () => {
  await using pair = await startPair({ hasRedis: false })
  const { here, there, sql } = pair
  const [ann, ben] = [await here.person('Ann'), await here.person('Ben')]
  const { body: app } = await ann.post('/api/apps', { type: 'chat_room', members: [ben.id] })
  await using hub = await joinHub(there.url, { token: () => ben.token })
  await hub.subscribe('message_created')
  // More than are read at a time, and as many as an API key may send at once.
  const texts = Array.from({ length: 250 }, (_, i) => `text ${i}`)

  // All are committed at about the same time.
  let sending: Promise<unknown> | undefined
  await sql.begin(async tx => {
    await tx`select from apps where id = ${app.id} for update`
    sending = Promise.all(texts.map(text => here.admin.post(`/api/apps/${app.id}/messages`, { text })))
    await eventually(async () => {
      const { body: metrics } = await here.request('GET', '/metrics')
      expect(metrics).toContain(`parley_mailbox_commands ${texts.length}`)
    })
  })
  await sending

  const told = () => hub.told.map(({ payload }) => payload.message.text)
  await eventually(() => expect(told()).not.toEqual([]))
  await eventually(() => expect(told()).toHaveLength(texts.length))
  expect(told().toSorted()).toEqual(texts.toSorted())
})

test('everything is sent once while an app comes into memory', async () => {
  await using pair = await startPair({ hasRedis: false })
  const { here, there } = pair
  const { ben, quiet, lively, send, ...listening } = await startRooms(pair)
  await using hub = listening.hub

  await send(here, lively, 'one')
  // From here on the other node has it in memory, as it is after the first message.
  await client(there.url, ben.token).get(`/api/apps/${lively}`)
  await send(here, lively, 'two')
  await send(there, lively, 'three')
  await send(here, lively, 'four')
  const texts = () => hub.told.map(({ payload }) => payload.message.text).toSorted()
  await eventually(() => expect(texts()).toEqual(['four', 'one', 'three', 'two']))
  // Told by a later look, which would find again what was told.
  await send(here, quiet, 'five')
  await hub.hear('message_created', payload => payload.message.text === 'five')

  expect(texts()).toEqual(['four', 'one', 'three', 'two'])
})

test('what was written before an app came into memory is sent before what is written after', async () => {
  await using pair = await startPair({ hasRedis: false })
  const { here, there } = pair
  const [ann, ben] = [await here.person('Ann'), await here.person('Ben')]
  const { body: app } = await ann.post('/api/apps', { type: 'chat_room', members: [ben.id] })
  await using hub = await joinHub(there.url, { token: () => ben.token })
  await hub.subscribe('message_created')
  const send = (server: Server, text: string) =>
    client(server.url, ann.token).post(`/api/apps/${app.id}/messages`, { text })

  await send(here, 'one')
  await hub.hear('message_created')
  // The other node has just looked, so it has not heard of this when it loads the app.
  await send(here, 'two')
  await send(there, 'three')
  const heard = [await hub.hear('message_created'), await hub.hear('message_created')]

  expect(heard.map(({ message }) => message.text)).toEqual(['two', 'three'])
})

test('what was sent is not sent again by a node that had to load the app anew', async () => {
  await using pair = await startPair({ hasRedis: false })
  const { here, there, sql } = pair
  const { quiet, lively, send, ...listening } = await startRooms(pair)
  await using hub = listening.hub

  await send(there, lively, 'one')
  // Nobody knows what became of a commit whose connection ends, so what is in memory may be wrong.
  let unknown: Promise<{ status: number }> | undefined
  await sql.begin(async tx => {
    await tx`select from apps where id = ${lively} for update`
    unknown = send(there, lively, 'lost')
    await eventually(async () => {
      const { count } = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      expect(count).toBe(1)
    })
  })
  const { status } = await unknown!
  await send(there, lively, 'two')
  // Told by a later look, which would find again what was told.
  await send(here, quiet, 'three')
  await eventually(() => expect(hub.told.at(-1)?.payload.message.text).toBe('three'))

  expect(status).toBe(503)
  expect(hub.told.map(({ payload }) => payload.message.text)).toEqual(['one', 'two', 'three'])
})

test('what could not be read when it was to be sent is sent a moment later', async () => {
  await using pair = await startPair({ hasRedis: false })
  const { here, there, sql } = pair
  const [ann, ben] = [await here.person('Ann'), await here.person('Ben')]
  await using hub = await joinHub(there.url, { token: () => ben.token })
  await hub.subscribe('message_created')
  const { body: app } = await ann.post('/api/apps', { type: 'chat_room', members: [ben.id] })
  const send = (message: object) => ann.post(`/api/apps/${app.id}/messages`, message)
  const hear = async () => (await hub.hear('message_created')).message.text
  // The other node has just looked, so it will not read the poll before that is locked.
  await send({ text: 'one' })
  const first = await hear()

  await send({ text: 'two', options: [{ text: 'yes' }, { text: 'no' }] })
  await sql.begin(async tx => {
    await tx`lock table options in access exclusive mode`
    await cancelWaiting(sql, '%from options where item_id = any%')
  })
  const second = await hear()
  await send({ text: 'three' })

  expect([first, second, await hear()]).toEqual(['one', 'two', 'three'])
})

test('an event whose author could not be read is sent a moment later', async () => {
  await using pair = await startPair({ hasRedis: false })
  const { here, there, sql } = pair
  const [ann, ben] = [await here.person('Ann'), await here.person('Ben')]
  await using hub = await joinHub(there.url, { token: () => ben.token })
  await hub.subscribe('message_created')
  const { body: app } = await ann.post('/api/apps', { type: 'chat_room', members: [ben.id] })

  // The other node knows by now that there is somebody new, but has never met Ann.
  await there.admin.post('/api/directories', { name: 'acme' })
  await sql.begin(async tx => {
    await tx`lock table users in access exclusive mode`
    await ann.post(`/api/apps/${app.id}/messages`, { text: 'one' })
    await cancelWaiting(sql, '%from users u where u.id = any%', { timeoutMs: 2 * newsMs })
  })
  const first = await hub.hear('message_created')
  await ann.post(`/api/apps/${app.id}/messages`, { text: 'two' })
  const second = await hub.hear('message_created')

  expect([first, second].map(({ message }) => message.text)).toEqual(['one', 'two'])
  expect(first.actor.name).toBe('Ann')
})

/** Cancels what waits for a lock with a query like this one; not before there is something. */
function cancelWaiting(sql: Sql, query: string, deadline: { timeoutMs?: number } = {}): Promise<void> {
  return eventually(async () => {
    const { count } = await sql`
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like ${query}`
    expect(count).toBeGreaterThan(0)
  }, deadline)
}

/** Two rooms of two people, one of whom hears of messages at the other node. The hub is to be left. */
async function startRooms({ here, there }: Pair) {
  const [ann, ben] = [await here.person('Ann'), await here.person('Ben')]
  const start = async () => {
    const { body } = await ann.post('/api/apps', { type: 'chat_room', members: [ben.id] })
    return body.id as string
  }
  const [quiet, lively] = [await start(), await start()]
  const hub = await joinHub(there.url, { token: () => ben.token })
  await hub.subscribe('message_created')
  const send = (server: Server, app: string, text: string) =>
    client(server.url, ann.token).post(`/api/apps/${app}/messages`, { text })
  return { ben, hub, quiet, lively, send }
}
