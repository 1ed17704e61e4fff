import { expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { create } from '../support/content.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { allFollowed } from '../support/followed.ts'
import { count, heard } from '../support/notifications.ts'
import { listen } from '../support/realtime.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'
import { payloadOf, register } from '../support/webhooks.ts'

test('sessions hear of their user’s notifications, and of nobody else’s', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await using anns = await listen(server.url, { token: ann.token })
  await using bens = await listen(server.url, { token: ben.token })

  await ann.post(`/api/apps/${app}/messages`, { text: 'Hello' })
  const { notification } = await bens.hear('notification_created')
  await ben.put(`/api/notifications/${notification.id}/mark`)
  const updated = await bens.hear('notification_updated')
  await ann.post(`/api/apps/${app}/messages`, { text: 'Again' })
  await bens.hear('notification_created')
  await ben.put('/api/notifications/mark')
  await bens.hear('notifications_marked')
  await anns.settle()

  expect(notification).toMatchObject({ user: { id: ben.id }, args: ['Ann', 'Ann', 'Hello'], is_unread: true })
  expect(updated.notification).toMatchObject({ id: notification.id, is_unread: false })
  expect(anns.frames.filter(({ type }) => type.startsWith('notification'))).toEqual([])
})

test('sessions hear at once of what was marked on their node', async () => {
  await using server = await startServer()
  const ben = await server.person('Ben')
  await using bens = await listen(server.url, { token: ben.token })
  const rounds = 8

  const startedAtMs = performance.now()
  for (let round = 0; round < rounds; round++) {
    await server.admin.post('/api/notifications', { user: ben.id, text: `Round ${round}` })
    await bens.hear('notification_created')
    await ben.put('/api/notifications/mark')
    await bens.hear('notifications_marked')
  }

  // By the looks for what other nodes did, each of these would take up to a second.
  expect(performance.now() - startedAtMs).toBeLessThan(rounds * 1_000)
})

test('webhooks hear of notifications without what was written', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await register(server, receiver.url, { triggers: ['notifications'] })
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people

  await ann.post(`/api/apps/${app}/messages`, { text: 'Secret' })
  const [{ id }] = await heard(ben, 1)
  await ben.put(`/api/notifications/${id}/mark`)
  await ben.delete(`/api/notifications/${id}/mark`)
  await ben.put('/api/notifications/mark')
  await server.admin.post('/api/notifications', { user: ben.uid, text: 'Secret' })

  const requests = await receiver.take(5, 10_000)
  const payloads = requests.map(payloadOf)
  expect(payloads.map(({ action }) => action)).toEqual([
    'notification_created',
    'notification_updated',
    'notification_updated',
    'notifications_marked',
    'notification_created',
  ])
  expect(payloads[0]).toMatchObject({
    actor: { id: ann.id },
    notification: { id, user: { id: ben.id, uid: ben.uid }, is_unread: true, link: { app: { id: app } } },
  })
  expect(requests.map(({ body }) => body).join()).not.toContain('Secret')
  expect(payloads[3]).not.toHaveProperty('notification')
  expect(new Set(payloads.map(one => one.id)).size).toBe(5)
})

test('webhooks hear who changed a notification, whomever it names', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await register(server, receiver.url, { triggers: ['notifications'] })
  const { app, people } = await server.chatWith(3)
  const [ann, ben, eve] = people
  const poll = await create(ann, `/api/apps/${app}/messages`, { options: [{ text: 'Yes' }] })
  const [{ id }] = await heard(ben, 1)
  const vote = (person: typeof ben) => person.post(`/api/options/${poll.options.data[0].id}/vote`)
  const told = (many: number) => receiver.take(many, 10_000)

  await ben.put(`/api/notifications/${id}/mark`)
  await vote(ben)
  await told(4)
  await vote(eve)
  await told(5)
  await vote(eve)

  const payloads = (await told(6)).map(payloadOf)
  expect(payloads.slice(2).map(({ action, actor, notification }) => [action, actor.id, notification.actor.id])).toEqual(
    [
      ['notification_updated', ben.id, ann.id],
      ['notification_created', ben.id, ben.id],
      ['notification_updated', eve.id, eve.id],
      ['notification_updated', eve.id, ben.id],
    ],
  )
})

test('every mention is notified of exactly once and in order, with two nodes at work', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await one.chatWith(3)
  const [ann, ben, eve] = people
  const sendBoth = Array.from({ length: 60 }, (_, i) => [
    ann.post(`/api/apps/${app}/messages`, { text: `${i} [Eve](@u${eve.id})` }),
    other.request('POST', `/api/apps/${app}/messages`, { body: { text: `${i} [Eve](@u${eve.id})` }, token: ben.token }),
  ])

  await Promise.all(sendBoth.flat())

  await eventually(async () => expect(await count(eve)).toBe('120'), { timeoutMs: 10_000 })
  const rows = await database.sql<{ link_id: number }[]>`
    select link_id from notifications where user_id = ${eve.id} order by id`
  const links = rows.map(({ link_id }) => link_id)
  expect(links).toEqual([...new Set(links)].sort((a, b) => a - b))
})

test('whoever subscribes is not told of what came before, however late notifications are made', async () => {
  await using database = await createDatabase()
  const first = await startServer({ DATABASE_URL: database.url })
  const [ann, ben] = [await first.person('Ann'), await first.person('Ben')]
  const make = async (type: string) => (await ann.post('/api/apps', { type, members: [ben.id] })).body.id
  const [feed, files] = [await make('posts'), await make('files')]
  const addAll = async (name: string) => {
    await ann.post(`/api/apps/${feed}/posts`, { text: name })
    const { body: blob } = await upload(ann, { name, content: 'x' })
    await ann.post(`/api/apps/${files}/files`, { blob_id: blob.id })
  }
  await addAll('before')
  for (const app of [feed, files]) await ben.post(`/api/apps/${app}/subscribe`)
  await addAll('after')
  await heard(ben, 2)
  await first[Symbol.asyncDispose]()
  await forgetNotifications(database)

  await using second = await startServer({ DATABASE_URL: database.url })

  await allFollowed(database.sql)
  const { body } = await second.request('GET', '/api/notifications', { token: ben.token })
  expect(body.data.map((one: Body) => one.args)).toEqual([
    ['Ann', 'after', expect.any(String)],
    ['Ann', expect.any(String), 'after'],
  ])
})

test('whoever joins is not told of what came before, however late notifications are made', async () => {
  await using database = await createDatabase()
  const first = await startServer({ DATABASE_URL: database.url })
  const { app, people, stranger } = await first.chatWith(2)
  const [ann, ben] = people
  await ann.post(`/api/apps/${app}/messages`, { text: 'before' })
  await first.admin.put(`/api/apps/${app}/members/${stranger.id}`, { access: 'write' })
  await ann.post(`/api/apps/${app}/messages`, { text: 'after' })
  await allFollowed(database.sql)
  await heard(ben, 1)
  await first[Symbol.asyncDispose]()
  await forgetNotifications(database)

  await using second = await startServer({ DATABASE_URL: database.url })

  await allFollowed(database.sql)
  const { body } = await second.request('GET', '/api/notifications', { token: stranger.token })
  expect(body).toMatchObject({ count: '1', data: [{ args: ['Ann', expect.any(String), 'after'] }] })
})

test('who changes a reaction before it was notified of is told of once', async () => {
  await using database = await createDatabase()
  const first = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await first.chatWith(2)
  const [ann, ben] = people
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'Lunch?' })
  for (const content of ['👍', '🎉']) await ben.post(`/api/messages/${message.id}/reactions`, { content })
  await allFollowed(database.sql)
  await first[Symbol.asyncDispose]()
  await forgetNotifications(database)

  await using second = await startServer({ DATABASE_URL: database.url })

  await allFollowed(database.sql)
  const { body } = await second.request('GET', '/api/notifications', { token: ann.token })
  expect(body).toMatchObject({ count: '1', data: [{ args: ['Ben', '🎉', 'Lunch?'] }] })
})

test('what was committed before a crash is notified of by the next node', async () => {
  await using database = await createDatabase()
  const first = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await first.chatWith(2)
  const [ann, ben] = people
  await ann.post(`/api/apps/${app}/messages`, { text: 'Hello' })
  await heard(ben, 1)
  await first[Symbol.asyncDispose]()
  await forgetNotifications(database)

  await using second = await startServer({ DATABASE_URL: database.url })

  await eventually(async () => {
    const answer = await second.request('GET', '/api/notifications', { token: ben.token })
    expect(answer.body).toMatchObject({ count: '1', data: [{ args: ['Ann', 'Ann', 'Hello'] }] })
  })
  await allFollowed(database.sql)
})

test('whoever reads before notifications are made has read them too, and webhooks hear of that once for each', async () => {
  await using database = await createDatabase()
  await using receiver = await startReceiver()
  const first = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await first.chatWith(4)
  const [ann, ben, eve, dan] = people
  const text = `[Ben](@u${ben.id}) [Eve](@u${eve.id}) [Dan](@u${dan.id})`
  const send = async () => (await ann.post(`/api/apps/${app}/messages`, { text })).body.id
  const [one, two, three] = [await send(), await send(), await send()]
  const read = (person: typeof ben, id: string) => person.put(`/api/apps/${app}/mark?message_id=${id}`)
  await read(ben, two)
  await read(eve, three)
  const four = await send()
  // Back again: what was read stays read.
  await read(ben, one)
  await allFollowed(database.sql)
  await register(first, receiver.url, { triggers: ['notifications'] })
  await first[Symbol.asyncDispose]()
  await forgetNotifications(database)

  await using _ = await startServer({ DATABASE_URL: database.url })

  await allFollowed(database.sql)
  const unread = await database.sql<{ user: string; links: string[] }[]>`
    select user_id::text as user, array_agg(link_id::text order by link_id) as links from notifications
    where is_unread group by user_id`
  expect(new Map(unread.map(({ user, links }) => [user, links]))).toEqual(
    new Map([
      [ben.id, [three, four]],
      [eve.id, [four]],
      [dan.id, [one, two, three, four]],
    ]),
  )
  const payloads = (await receiver.take(14, 10_000)).map(payloadOf)
  const marked = payloads.filter(({ action }) => action === 'notifications_marked')
  expect(marked.map(({ actor }) => actor.id).toSorted()).toEqual([ben.id, eve.id].toSorted())
})

test('a crowd is told a stretch at a time, and whoever is left after a crash once each by the next node', async () => {
  await using database = await createDatabase()
  const { sql } = database
  const first = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await first.chatWith(250)
  await people[0]!.post(`/api/apps/${app}/messages`, { text: 'Hello' })
  const told = people.slice(1).map(({ id }) => Number(id))
  const listTold = async () =>
    (await sql<{ id: number }[]>`select user_id::int as id from notifications order by 1`).map(({ id }) => id)
  const everybody = () =>
    eventually(async () => expect(await listTold()).toEqual(told.toSorted((a, b) => a - b)), { timeoutMs: 15_000 })
  await everybody()
  expect(await sql`select from notifications group by xmin::text`).toHaveLength(3)
  await first[Symbol.asyncDispose]()

  const last = told[100]!
  await sql`delete from notifications where user_id > ${last}`
  await sql`
    update notification_cursors set told_to = ${last},
      rev = (select max(rev) from events where app_id = ${app} and type <> 'message_created')`
  await sql`insert into notifiable select id, head_rev from apps`
  await using second = await startServer({ DATABASE_URL: database.url })

  await everybody()
  await allFollowed(sql)
  const { body } = await second.request('GET', '/api/notifications', { token: people[249]!.token })
  expect(body).toMatchObject({ count: '1', data: [{ args: ['Ann', expect.any(String), 'Hello'] }] })
  expect(await listTold()).toHaveLength(told.length)
})

/** As it is when a node dies between the commits of messages and those of their notifications. */
async function forgetNotifications({ sql }: Database): Promise<void> {
  await sql`delete from notifications`
  await sql`update notification_cursors set rev = 0`
  await sql`update followed_position set rev = 0, at = 'epoch'`
}
