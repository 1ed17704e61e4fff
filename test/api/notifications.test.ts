import { expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { appOf, create } from '../support/content.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { listen } from '../support/realtime.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'
import { payloadOf, register } from '../support/webhooks.ts'

test('a message in a private chat notifies the other person, and nobody else', async () => {
  await using server = await startServer()
  const [ann, ben] = await Promise.all([server.person('Ann *Lee*'), server.person('Ben')])
  const { body: chat } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })

  const { body: message } = await ann.post(`/api/apps/${chat.id}/messages`, { text: 'Is **this** on?\n\n_Yes_' })

  const [notification] = await heard(ben, 1)
  expect(notification).toEqual({
    id: expect.stringMatching(/^\d+$/),
    type: 'activity',
    action: 'message_created',
    actor: { id: ann.id, uid: ann.uid, name: 'Ann *Lee*' },
    user: { id: ben.id, uid: ben.uid, name: 'Ben' },
    template: 'New message from **{0}**: "{1}"',
    args: ['Ann *Lee*', 'Is this on? Yes'],
    text: 'New message from **Ann \\*Lee\\***: "Is this on? Yes"',
    html: '<p>New message from <strong>Ann *Lee*</strong>: "Is this on? Yes"</p>',
    plain: 'New message from Ann *Lee*: "Is this on? Yes"',
    link: { id: message.id, type: 'message', app: { id: chat.id, type: chat.type } },
    created_at: message.created_at,
    is_unread: true,
  })
  expect((await ben.get(`/api/notifications/${notification.id}`)).body).toEqual(notification)
  expect((await ann.get(`/api/notifications/${notification.id}`)).status).toBe(404)
  expect((await ann.get('/api/notifications')).body).toMatchObject({ count: '0' })
})

test('a message in a room notifies those who are subscribed to it, once each', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(4)
  const [ann, ben, eve, kim] = people
  await server.admin.patch(`/api/apps/${app}`, { name: 'Plans' })
  await kim.post(`/api/apps/${app}/unsubscribe`)

  await ann.post(`/api/apps/${app}/messages`, { text: `Hello [Ben](@u${ben.id})` })
  await eve.post(`/api/apps/${app}/messages`, { text: 'Good morning' })

  const [second, first] = await heard(ben, 2)
  expect(first).toMatchObject({ type: 'mention', template: '**{0}** mentioned you in a message: "{1}"' })
  expect(second).toMatchObject({
    type: 'activity',
    template: '**{0}** sent a message in **{1}**: "{2}"',
    args: ['Eve', 'Plans', 'Good morning'],
  })
  expect((await heard(eve, 1))[0]).toMatchObject({ args: ['Ann', 'Plans', 'Hello @Ben'] })
  await heard(ann, 1)
  expect(await count(kim)).toBe('0')
})

test('a message without a word notifies like any other, and so do those after it', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { body: picture } = await upload(ann, { name: 'garden.png', content: 'not quite' })

  await ann.post(`/api/apps/${app}/messages`, { blobs: [picture.id] })
  await ann.post(`/api/apps/${app}/messages`, { options: [{ text: 'Yes' }] })
  await ann.post(`/api/apps/${app}/messages`, { text: 'What do you think?' })

  expect((await heard(ben, 3)).map(({ args }) => args[2])).toEqual(['What do you think?', '', ''])
})

test('an edit notifies only whom it newly mentions', async () => {
  await using server = await startServer()
  const { app, ann, ben, eve } = await feed(server)
  const { body: post } = await ann.post(`/api/apps/${app}/posts`, { text: `Hello [Ben](@u${ben.id})` })
  await heard(ben, 1)

  await ann.patch(`/api/posts/${post.id}`, { text: `Hello [Ben](@u${ben.id}) and [Eve](@u${eve.id})` })

  expect((await heard(eve, 1))[0]).toMatchObject({
    type: 'mention',
    action: 'post_updated',
    template: '**{0}** mentioned you in a post: "{1}"',
  })
  expect(await count(ben)).toBe('1')
})

test('a post notifies the subscribers of its feed; who is mentioned in it is told of that alone', async () => {
  await using server = await startServer()
  const { app, ann, ben, eve } = await feed(server)
  await ben.post(`/api/apps/${app}/subscribe`)
  await eve.post(`/api/apps/${app}/subscribe`)

  await ann.post(`/api/apps/${app}/posts`, { text: `See [Eve](@u${eve.id})` })

  expect((await heard(ben, 1))[0]).toMatchObject({
    action: 'post_created',
    template: '**{0}** posted in **{1}**: "{2}"',
    args: ['Ann', 'news', 'See @Eve'],
    link: { type: 'post', app: { uid: 'news' } },
  })
  expect(await heard(eve, 1)).toMatchObject([{ type: 'mention' }])
})

test('a comment on a post notifies its author and those who commented before', async () => {
  await using server = await startServer()
  const { app, ann, ben, eve } = await feed(server)
  const { body: post } = await ann.post(`/api/apps/${app}/posts`, { text: 'News' })

  await ben.post(`/api/posts/${post.id}/comments`, { text: 'Good' })
  const { body: comment } = await eve.post(`/api/posts/${post.id}/comments`, { text: 'Very' })

  const ofAnn = await heard(ann, 2)
  expect(ofAnn.map(one => [one.template, one.args])).toEqual([
    ['**{0}** replied to your post: "{1}"', ['Eve', 'Very']],
    ['**{0}** replied to your post: "{1}"', ['Ben', 'Good']],
  ])
  const [ofBen] = await heard(ben, 1)
  expect(ofBen.template).toBe('**{0}** replied to a post: "{1}"')
  expect(ofBen.link).toMatchObject({ type: 'comment', id: comment.id, parent: { type: 'post', id: post.id } })
  expect(await count(eve)).toBe('0')
})

test('a new file notifies the subscribers of its app, and new content those of the file', async () => {
  await using server = await startServer()
  const [ann, ben] = await Promise.all([server.person('Ann'), server.person('Ben')])
  const { body: app } = await ann.post('/api/apps', { type: 'files', name: 'Plans', members: [ben.id] })
  const add = async (person: Person, replace: boolean) => {
    const { body: blob } = await upload(person, { name: 'plan.txt', content: 'a plan' })
    return person.post(`/api/apps/${app.id}/files`, { blob_id: blob.id, replace })
  }

  const { body: file } = await add(ben, false)
  await add(ann, true)
  await ann.patch(`/api/files/${file.id}`, { tags: ['draft'] })

  expect((await heard(ann, 1))[0]).toMatchObject({
    action: 'file_created',
    template: '**{0}** added *{1}* to **{2}**',
    args: ['Ben', 'plan.txt', 'Plans'],
    link: { id: file.id, type: 'file' },
  })
  expect((await heard(ben, 1))[0]).toMatchObject({ action: 'file_updated', args: ['Ann', 'plan.txt'] })
})

test('reactions of one person are one notification, which goes with them while it is unread', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'Lunch?' })
  const react = (content: string) => ben.post(`/api/messages/${message.id}/reactions`, { content })

  await react('👍')
  const [first] = await heard(ann, 1)
  await react('🎉')
  const updated = await eventually(async () => {
    const { body } = await ann.get('/api/notifications')
    expect(body.data[0]).toMatchObject({ args: ['Ben', '🎉', 'Lunch?'] })
    return body
  })
  await ben.delete(`/api/messages/${message.id}/reactions`)

  expect(first).toMatchObject({
    type: 'reaction',
    action: 'reaction_added',
    template: '**{0}** reacted {1} to your message: "{2}"',
    args: ['Ben', '👍', 'Lunch?'],
  })
  expect(updated).toMatchObject({ count: '1', data: [{ id: first.id, is_unread: true }] })
  expect(updated.data[0].updated_at).toBeDefined()
  await heard(ann, 0)
})

test('votes on a poll are told together while that is unread, and taken back with the vote', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(5)
  const [ann, ...voters] = people
  const poll = { text: 'When?', options: [{ text: 'Now' }, { text: 'Later' }] }
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, poll)
  const [now, later] = message.options.data
  const told = async (template: string, args: string[]) =>
    eventually(async () => {
      const { body } = await ann.get('/api/notifications')
      expect(body).toMatchObject({ count: '1', data: [{ action: 'vote_added', template, args }] })
      return body.data[0].id
    })

  await voters[0]!.post(`/api/options/${now.id}/vote`)
  const id = await told('**{0}** voted on your poll', ['Ben'])
  await voters[1]!.post(`/api/options/${now.id}/vote`)
  await told('**{0}** and **{1}** voted on your poll', ['Eve', 'Ben'])
  await voters[2]!.post(`/api/options/${now.id}/vote`)
  await voters[3]!.post(`/api/options/${now.id}/vote`)
  await voters[0]!.post(`/api/options/${later.id}/vote`)
  const same = await told('**{0}** and {1} others voted on your poll', ['Member 4', '3'])
  await voters[3]!.post(`/api/options/${now.id}/vote`)
  await told('**{0}**, **{1}** and **{2}** voted on your poll', ['Kim', 'Eve', 'Ben'])

  expect(same).toBe(id)
})

test('who marks a chat as read has read what was told of its messages up to there', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const messages: Body[] = []
  for (const text of ['One', 'Two', 'Three'])
    messages.push((await ann.post(`/api/apps/${app}/messages`, { text })).body)
  await heard(ben, 3)

  await ben.put(`/api/apps/${app}/mark?message_id=${messages[1].id}`)

  await eventually(async () => expect(await count(ben, '&unread=true')).toBe('1'))
  expect((await ben.get('/api/notifications?unread=true')).body.data).toMatchObject([{ args: ['Ann', 'Ann', 'Three'] }])
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
    for (const text of ['One', 'Two']) await ann.post(`/api/apps/${app.uid}/messages`, { text })
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

test('agents, people in the trash and people without access are not notified', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(4)
  const [ann, ben, eve, kim] = people
  const bot = await server.admin.post('/api/agents', { uid: 'bot', name: 'Bot', provider: 'openai', model: 'x' })
  await server.admin.put(`/api/apps/${app}/members`, [
    { user: bot.body.id, access: 'write' },
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

test('every message is notified of exactly once and in order, with two nodes at work', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await one.chatWith(3)
  const [ann, ben, eve] = people
  const sendBoth = Array.from({ length: 60 }, (_, i) => [
    ann.post(`/api/apps/${app}/messages`, { text: `${i}` }),
    other.request('POST', `/api/apps/${app}/messages`, { body: { text: `${i}` }, token: ben.token }),
  ])

  await Promise.all(sendBoth.flat())

  await eventually(async () => expect(await count(eve)).toBe('120'), { timeoutMs: 10_000 })
  const rows = await database.sql<{ link_id: number }[]>`
    select link_id from notifications where user_id = ${eve.id} order by id`
  const links = rows.map(({ link_id }) => link_id)
  expect(links).toEqual([...new Set(links)].sort((a, b) => a - b))
  expect([await count(ann), await count(ben)]).toEqual(['60', '60'])
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

  await eventually(async () => expect(await database.sql`select from notifiable`).toHaveLength(0))
  const { body } = await second.request('GET', '/api/notifications', { token: ben.token })
  expect(body.data.map((one: Body) => one.args)).toEqual([
    ['Ann', 'after', expect.any(String)],
    ['Ann', expect.any(String), 'after'],
  ])
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
  await eventually(async () => expect(await database.sql`select from notifiable`).toHaveLength(0))
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
  await eventually(async () => expect(await sql`select from notifiable`).toHaveLength(0))
  const { body } = await second.request('GET', '/api/notifications', { token: people[249]!.token })
  expect(body).toMatchObject({ count: '1', data: [{ args: ['Ann', expect.any(String), 'Hello'] }] })
  expect(await listTold()).toHaveLength(told.length)
})

/** As it is when a node dies between the commits of messages and those of their notifications. */
async function forgetNotifications({ sql }: Database): Promise<void> {
  await sql`delete from notifications`
  await sql`update notification_cursors set rev = 0`
  await sql`insert into notifiable select id, head_rev from apps`
}

/** A feed in which three people may write. */
async function feed({ admin, person }: Server): Promise<{ app: string; ann: Person; ben: Person; eve: Person }> {
  const [ann, ben, eve] = await Promise.all([person('Ann'), person('Ben'), person('Eve')])
  const { body } = await admin.post('/api/apps', { type: 'posts', uid: 'news', members: [ann.id, ben.id, eve.id] })
  return { app: body.id, ann, ben, eve }
}

/** The notifications of somebody, newest first, when there are so many. */
function heard(person: Person, many: number): Promise<Body[]> {
  return eventually(async () => {
    const { body } = await person.get('/api/notifications')
    expect(body.count).toBe(String(many))
    return body.data ?? []
  })
}

async function count(person: Person, query = ''): Promise<string> {
  return (await person.get(`/api/notifications?count_only=true${query}`)).body.count
}
