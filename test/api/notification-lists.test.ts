import { expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { appOf, create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { count, heard } from '../support/notifications.ts'
import { listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

test('who marks a chat as read has read the mentions up to there', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const messages: Body[] = []
  for (const text of ['One', 'Two', 'Three'])
    messages.push((await ann.post(`/api/apps/${app}/messages`, { text: `${text} [Ben](@u${ben.id})` })).body)
  await heard(ben, 3)

  await ben.put(`/api/apps/${app}/mark?message_id=${messages[1].id}`)

  await eventually(async () => expect(await count(ben, '&unread=true')).toBe('1'))
  expect((await ben.get('/api/notifications?unread=true')).body.data).toMatchObject([{ args: ['Ann', 'Three @Ben'] }])
})

test('notifications are marked one by one, up to one, by app and by directory', async () => {
  await using server = await startServer()
  const [ann, ben] = await Promise.all([server.person('Ann'), server.person('Ben')])
  await server.admin.post('/api/directories', { name: 'acme' })
  await server.admin.put('/api/directories/acme/members', [ann.id, ben.id])
  const inside = { type: 'chat', uid: 'inside', directory: 'acme', members: [ann.id, ben.id] }
  const outside = { type: 'chat', uid: 'outside', members: [ann.id, ben.id] }
  for (const app of [inside, outside]) {
    await server.admin.post('/api/apps', app)
    await ben.post(`/api/apps/${app.uid}/subscribe`)
    for (const text of ['One', 'Two'])
      await ann.post(`/api/apps/${app.uid}/messages`, { text: `${text} [Ben](@u${ben.id})` })
  }
  const all = await heard(ben, 4)
  const unread = () => count(ben, '&unread=true')

  const one = await ben.put(`/api/notifications/${all[0].id}/mark`)
  const back = await ben.delete(`/api/notifications/${all[0].id}/mark`)
  const others = await ann.put(`/api/notifications/${all[0].id}/mark`)
  expect([one.body.is_unread, back.body.is_unread, others.status, await unread()]).toEqual([false, true, 404, '4'])

  expect((await ben.put('/api/apps/inside/notifications/mark')).status).toBe(204)
  const left = await ben.get('/api/notifications?unread=true&directory=acme')
  const read = await ben.get('/api/apps/inside/notifications?unread=false&type=')
  expect([left.body.count, read.body.count, await unread()]).toEqual(['0', '2', '2'])

  await ben.delete(`/api/notifications/${read.body.data[0].id}/mark`)
  expect((await ben.put('/api/directories/acme/notifications/mark')).status).toBe(204)
  expect((await ben.put('/api/directories/nowhere/notifications/mark')).status).toBe(404)
  expect(await unread()).toBe('2')

  const earlier = (await ben.get('/api/notifications?unread=true&order_by=id')).body.data[0]
  expect((await ben.put(`/api/notifications/mark?id=${earlier.id}`)).status).toBe(204)
  expect(await unread()).toBe('1')
  expect((await ben.put('/api/notifications/mark')).status).toBe(204)
  expect(await unread()).toBe('0')
})

test('whoever marks notifications and waits for another who waits for them marks them nevertheless', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await using server = await startServer({ DATABASE_URL: database.url })
  const ann = await server.person('Ann')
  const [first, second] = [
    await create(server.admin, '/api/notifications', { user: ann.id, text: 'One' }),
    await create(server.admin, '/api/notifications', { user: ann.id, text: 'Two' }),
  ]
  const other = await sql.reserve()
  await other`begin`
  await other`select from notifications where id = ${second.id} for update`

  const marking = ann.put('/api/notifications/mark')
  await eventually(async () => {
    const waiting = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    expect(waiting).toHaveLength(1)
  })
  await other`select from notifications where id = ${first.id} for update`
  await other`commit`
  other.release()

  expect((await marking).status).toBe(204)
  expect(await count(ann, '&unread=true')).toBe('0')
})

test('lists are filtered by type, action, directory and user', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await ann.post(`/api/apps/${app}/messages`, { text: `[Ben](@u${ben.id})` })
  const { body: message } = await ben.post(`/api/apps/${app}/messages`, { text: 'Yes?' })
  await ann.post(`/api/messages/${message.id}/reactions`, { content: '👋' })
  await heard(ben, 2)
  await heard(ann, 1)

  const found = async (query: string) => (await ben.get(`/api/notifications?${query}`)).body.count
  expect(await Promise.all(['type=', 'type=mention', 'type=reaction', 'type=activity'].map(found))).toEqual([
    '2',
    '1',
    '1',
    '0',
  ])
  expect(await found('action=reaction_added')).toBe('1')
  expect(await found('directory=acme')).toBe('0')
  expect(await found('q=yes')).toBe('1')
  expect((await ben.get('/api/notifications?type=other')).status).toBe(422)
  expect((await server.admin.get('/api/notifications')).body.count).toBe('3')
  expect((await server.admin.get(`/api/notifications?user=${ann.uid}`)).body.count).toBe('1')
  expect((await server.admin.get('/api/notifications?user=nobody')).body.count).toBe('0')
})

test('what is in the trash is not notified of until it is restored, and never again once it is deleted', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'Hello' })
  await heard(ben, 1)

  await ann.post(`/api/messages/${message.id}/trash`)
  const whileTrashed = await count(ben, '&unread=true')
  await ann.post(`/api/messages/${message.id}/restore`)
  const restored = await count(ben)
  await server.admin.post(`/api/apps/${app}/trash`)
  const whileAppIsTrashed = await count(ben)
  await server.admin.post(`/api/apps/${app}/restore`)
  await ann.delete(`/api/messages/${message.id}`)

  expect([whileTrashed, restored, whileAppIsTrashed, await count(ben)]).toEqual(['0', '1', '0', '0'])
})

test('a user who has left an app sees none of its notifications: lists, totals, marks and what is unread agree', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  for (const text of ['One', 'Two']) await ann.post(`/api/apps/${app}/messages`, { text: `${text} [Ben](@u${ben.id})` })
  const other = await create(server.admin, '/api/notifications', { user: ben.id, text: 'Elsewhere' })
  const [, one] = await heard(ben, 3)
  const seen = async () => {
    const { count: total, data } = (await ben.get('/api/notifications')).body
    return { total, listed: data.map(({ id }: Body) => id), unread: await count(ben, '&unread=true') }
  }
  const before = await seen()

  await server.admin.delete(`/api/apps/${app}/members/${ben.id}`)
  const outside = await seen()
  const single = [await ben.get(`/api/notifications/${one!.id}`), await ben.put(`/api/notifications/${one!.id}/mark`)]
  const all = await server.admin.get(`/api/notifications?user=${ben.id}`)
  await server.admin.put(`/api/apps/${app}/members`, [{ user: ben.id, access: 'write' }])

  expect(outside).toEqual({ total: '1', listed: [other.id], unread: '1' })
  expect(single.map(({ status }) => status)).toEqual([404, 404])
  // An API key sees them all the same.
  expect([all.body.count, all.body.data.length]).toEqual(['3', 3])
  expect(await seen()).toEqual(before)
  await ben.put('/api/notifications/mark')
  expect(await seen()).toEqual({ ...before, unread: '0' })
})

test('of a private chat that somebody removed, they are told of what came later', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: chat } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })
  await ann.post(`/api/apps/${chat.id}/messages`, { text: 'old' })
  const [old] = await heard(ben, 1)

  await ben.post(`/api/apps/${chat.id}/remove`)
  const whileRemoved = [await count(ben, '&unread=true'), (await ben.get(`/api/notifications/${old!.id}`)).status]
  await ann.post(`/api/apps/${chat.id}/messages`, { text: 'new' })

  expect(whileRemoved).toEqual(['0', 404])
  expect(await heard(ben, 1)).toMatchObject([{ args: ['Ann', 'new'] }])
})

test('whoever removed a private chat is told nothing more about its messages so far', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: chat } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })
  await using inbox = await listen(server.url, { token: ben.token })
  const mine = await create(ben, `/api/apps/${chat.id}/messages`, { text: 'mine', options: [{ text: 'Yes' }] })
  const hers = await create(ann, `/api/apps/${chat.id}/messages`, { text: 'hers' })
  await inbox.hear('notification_created')
  await ben.post(`/api/apps/${chat.id}/remove`)

  await ann.post(`/api/messages/${mine.id}/reactions`, { content: '👍' })
  await ann.post(`/api/options/${mine.options.data[0].id}/vote`)
  await ann.patch(`/api/messages/${hers.id}`, { text: `hers, [Ben](@u${ben.id})` })
  await ann.post(`/api/apps/${chat.id}/messages`, { text: 'new' })

  const { notification } = await inbox.hear('notification_created')
  expect(notification).toMatchObject({ action: 'message_created', args: ['Ann', 'new'] })
})

test('agents, people in the trash and people without access are not notified', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(4)
  const [ann, ben, eve, kim] = people
  const bot = await server.admin.post('/api/agents', { uid: 'bot', name: 'Bot', provider: 'openai', model: 'x' })
  // It may not write, so that it does not answer.
  await server.admin.put(`/api/apps/${app}/members`, [
    { user: bot.body.id, access: 'read' },
    { user: eve.id, access: 'none' },
  ])
  await server.admin.post(`/api/users/${kim.id}/trash`)

  await ann.post(`/api/apps/${app}/messages`, { text: `[Bot](@bot) [Eve](@u${eve.id})` })

  await heard(ben, 1)
  expect((await server.admin.get('/api/notifications')).body.count).toBe('1')
})

test('somebody is notified through the API, and the notification is deleted by them alone', async () => {
  await using server = await startServer()
  const { app, people, stranger } = await server.chatWith(1)
  const [ann] = people
  const given = {
    user: ann.uid,
    text: 'Your *order* has arrived',
    metadata: { order: 7 },
    link: { type: 'app', id: app },
  }

  const made = await server.admin.post('/api/notifications', given)
  const refused = await Promise.all([
    server.admin.post('/api/notifications', { ...given, user: 'nobody' }),
    server.admin.post('/api/notifications', { ...given, text: ' ' }),
    server.admin.post('/api/notifications', { ...given, text: 'x'.repeat(1_025) }),
    server.admin.post('/api/notifications', { ...given, user: stranger.id }),
    server.admin.post('/api/notifications', { ...given, link: { type: 'message', id: 999_999 } }),
    ann.post('/api/notifications', given),
  ])

  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    action: 'custom',
    actor: { id: '0' },
    text: given.text,
    plain: 'Your order has arrived',
    metadata: { order: 7 },
    link: { type: 'app', id: app, app: { id: app } },
  })
  expect(refused.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422, 403])
  expect((await stranger.delete(`/api/notifications/${made.body.id}`)).status).toBe(404)
  expect((await ann.delete(`/api/notifications/${made.body.id}`)).status).toBe(204)
  expect(await count(ann)).toBe('0')
})

test.each([
  ['post', 'in the trash'],
  ['post', 'deleted'],
  ['file', 'in the trash'],
  ['file', 'deleted'],
])('nobody can be notified of a comment on a %s that is %s', async (type, state) => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, `${type}s`, [ann, ben])
  const { body: blob } = await upload(ann, { name: 'a.txt', content: 'a' })
  const about = await create(ann, `/api/apps/${app}/${type}s`, type === 'post' ? { text: 'a' } : { blob_id: blob.id })
  const comment = await create(ann, `/api/${type}s/${about.id}/comments`, { text: 'Well' })
  if (state === 'deleted') await ann.delete(`/api/${type}s/${about.id}`)
  else await ann.post(`/api/${type}s/${about.id}/trash`)

  const link = { type: 'comment', id: comment.id }
  const { status, body } = await server.admin.post('/api/notifications', { user: ben.id, text: 'Look', link })

  expect([status, Object.keys(body.errors)]).toEqual([422, ['link']])
})

test.each(['message', 'app'] as const)('nobody is notified of what is deleted meanwhile: %s', async type => {
  await using database = await createDatabase()
  const { sql } = database
  await using server = await startServer({ DATABASE_URL: database.url })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const room = await appOf(server, 'chat_room', [ann, ben])
  const message = await create(ann, `/api/apps/${room}/messages`, { text: 'Hello' })
  await eventually(async () => expect(await sql`select from notifications`).toHaveLength(1))
  // What is deleted has been looked at; somebody else's transaction is about to end it.
  const deletion = await sql.reserve()
  await deletion`begin`
  await deletion`select from apps where id = ${room} for no key update`
  if (type === 'app') await deletion`update apps set deleted_at = now() where id = ${room}`
  else await deletion`delete from messages where id = ${message.id}`

  const link = { type, id: type === 'app' ? room : message.id }
  const sending = server.admin.post('/api/notifications', { user: ben.id, text: 'Look', link })
  await eventually(async () => {
    const waiting = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    expect(waiting).toHaveLength(1)
  })
  await deletion`commit`
  deletion.release()

  const { status, body } = await sending
  expect([status, Object.keys(body.errors)]).toEqual([422, ['link']])
  expect(await sql`select from notifications where action = 'custom'`).toHaveLength(0)
})
