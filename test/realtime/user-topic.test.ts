import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Recent } from '../../src/engine/recent.ts'
import { AppState, type AppRow, type MemberRow } from '../../src/engine/state.ts'
import { createLog } from '../../src/lib/log.ts'
import { ClientOrigin, ClientOrigins } from '../../src/realtime/sessions/client-origins.ts'
import { UserTopic } from '../../src/realtime/user-topic.ts'
import { findCodec } from '../../src/realtime/protocols/protocol.ts'
import { Session } from '../../src/realtime/sessions/session.ts'
import { Sessions } from '../../src/realtime/sessions/sessions.ts'
import { realtimeDefaults } from '../../src/realtime/settings.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'
import { Ear } from '../support/stage.ts'

test('a user is notified of every app that appears or disappears, without asking, in the order in which it happened', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using inbox = await listen(server.url, { token: ann.token })

  const { body: app } = await server.admin.post('/api/apps', { type: 'chat_room', members: [ann.id] })
  const added = await inbox.hear('app_added')
  await server.admin.post(`/api/apps/${app.id}/trash`)
  await server.admin.post(`/api/apps/${app.id}/restore`)
  await server.admin.delete(`/api/apps/${app.id}/members/${ann.id}`)
  await server.admin.put(`/api/apps/${app.id}/members/${ann.id}`, { access: 'read' })
  await server.admin.delete(`/api/apps/${app.id}`)
  await inbox.settle()

  expect(added.app_id).toBe(app.id)
  const types = ['app_removed', 'app_added', 'app_removed', 'app_added', 'app_removed']
  expect(inbox.frames).toEqual(types.map(type => ({ type, app_id: app.id })))
})

test('a user is told of what else changes in lists of apps, and of settings of the own', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const { body: feed } = await server.admin.post('/api/apps', { type: 'posts', members: [ann.id, ben.id] })
  const { body: old } = await ben.post(`/api/apps/${app}/messages`, { text: 'old' })
  const { body: last } = await ben.post(`/api/apps/${app}/messages`, { text: 'last' })
  await using inbox = await listen(server.url, { token: ann.token })
  const changes: (readonly [string, () => Promise<unknown>])[] = [
    [feed.id, () => ben.post(`/api/apps/${feed.id}/posts`, { text: 'post' })],
    [app, () => ben.patch(`/api/messages/${last.id}`, { text: 'edited' })],
    [app, () => ben.post(`/api/messages/${last.id}/reactions`, { content: '👍' })],
    [feed.id, () => server.admin.patch(`/api/apps/${feed.id}`, { name: 'News' })],
    [app, () => ann.put(`/api/apps/${app}/pin`)],
  ]

  for (const [id, change] of changes) {
    await change()
    expect(await inbox.hear('app_changed')).toMatchObject({ app_id: id })
  }
  await ben.put(`/api/apps/${app}/pin`)
  await ben.patch(`/api/messages/${old.id}`, { text: 'edited' })
  await ben.post(`/api/apps/${app}/messages`, { text: 'the next is what is unread' })

  await inbox.hear('unread')
  expect(inbox.frames.filter(({ type }) => type === 'app_changed')).toEqual([])
})

test('a member gets what is unread, wherever it was read', async () => {
  await using server = await startServer()
  const { app, people, stranger } = await server.chatWith(2)
  const [ann, ben] = people
  await using phone = await listen(server.url, { token: ben.token })
  await using laptop = await listen(server.url, { token: ben.token, protocol: 'msgpack', scalars: 'number' })
  await using nobody = await listen(server.url, { token: stranger.token })

  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'hello' })
  const unread = [await phone.hear('unread'), await laptop.hear('unread')]
  await ben.put(`/api/apps/${app}/mark`)
  const read = [await phone.hear('unread'), await laptop.hear('unread')]

  const [id, last] = [Number(app), Number(message.id)]
  expect(unread[0]).toEqual({ type: 'unread', app_id: app, is_unread: true, last_id: message.id })
  expect(unread[1]).toEqual({ type: 'unread', app_id: id, is_unread: true, last_id: last })
  expect(read[0]).toEqual({ type: 'unread', app_id: app, is_unread: false, last_id: message.id, marked_id: message.id })
  expect(read[1]).toEqual({ type: 'unread', app_id: id, is_unread: false, last_id: last, marked_id: last })
  await nobody.settle()
  expect(nobody.frames).toEqual([])
})

test('a user who marks all notifications at once is notified once', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using inbox = await listen(server.url, { token: ann.token })
  const notify = (text: string) => server.admin.post('/api/notifications', { user: ann.id, text })
  await Promise.all(['one', 'two', 'three'].map(notify))
  await inbox.take(3, 'notification_created')

  await ann.put('/api/notifications/mark')
  await notify('four')
  await inbox.take(1, 'notification_created')

  expect(inbox.frames).toEqual([{ type: 'notifications_marked' }])
})

test('many messages at once are one change of what is unread', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using inbox = await listen(server.url, { token: ben.token })

  const start = performance.now()
  await Promise.all(Array.from({ length: 50 }, () => ann.post(`/api/apps/${app}/messages`, { text: 'hello' })))
  const { body } = await ann.get(`/api/apps/${app}/messages?order_by=id+desc&take=1`)
  let changes = 1
  while ((await inbox.hear('unread')).last_id !== body.data[0].id) changes++

  expect(changes).toBeLessThanOrEqual((performance.now() - start) / realtimeDefaults.unreadDelayMs)
})

test('no frame is sent for the read markers of a large room', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(12)
  const [ann, ben] = [people[0], people[1]]
  await using inbox = await listen(server.url, { token: ann.token })
  await inbox.subscribe(app)

  const { body: first } = await ann.post(`/api/apps/${app}/messages`, { text: 'first' })
  await ben.put(`/api/apps/${app}/mark?message_id=${first.id}`)
  await ann.post(`/api/apps/${app}/messages`, { text: 'second' })

  const heard = await inbox.take(2)
  expect(heard.map(event => event.event)).toEqual(['message_created', 'message_created'])
  expect(heard[1].prev).toBe(heard[0].rev)
})

test('in a small room, everybody sees how far the others have read', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using inbox = await listen(server.url, { token: ann.token })
  await inbox.subscribe(app)

  const { body: first } = await ann.post(`/api/apps/${app}/messages`, { text: 'first' })
  await ben.put(`/api/apps/${app}/mark?message_id=${first.id}`)

  const [, marked] = await inbox.take(2)
  expect(marked).toMatchObject({ event: 'app_marked', actor: { id: ben.id }, marked_id: first.id })
})

test('where every user may come in, the read markers of others are not sent', async () => {
  await using server = await startServer()
  const [ann, ben, stranger] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  const { body: app } = await server.admin.post('/api/apps', {
    type: 'chat',
    access: 'read',
    members: [ann.id, ben.id],
  })
  await using inbox = await listen(server.url, { token: stranger.token })
  await inbox.subscribe(app.id)

  await ann.post(`/api/apps/${app.id}/messages`, { text: 'first' })
  await ben.put(`/api/apps/${app.id}/mark`)
  await ann.post(`/api/apps/${app.id}/messages`, { text: 'second' })

  const heard = await inbox.take(2)
  expect(heard.map(event => event.event)).toEqual(['message_created', 'message_created'])
})

test('a member is notified that nothing is unread any more when what was is deleted, also behind their own messages', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { body: first } = await ann.post(`/api/apps/${app}/messages`, { text: 'first' })
  const { body: own } = await ben.post(`/api/apps/${app}/messages`, { text: 'second' })
  await using inbox = await listen(server.url, { token: ben.token })

  await ben.delete(`/api/apps/${app}/mark`)
  const unread = await inbox.hear('unread')
  await ann.delete(`/api/messages/${first.id}`)
  const read = await inbox.hear('unread')

  expect(unread).toEqual({ type: 'unread', app_id: app, is_unread: true, last_id: own.id })
  expect(read).toEqual({ type: 'unread', app_id: app, is_unread: false, last_id: own.id })
})

/** A topic on a clock that the test moves, with users that are members of one app. */
function startTopic(count: number) {
  const clock = new ManualClock()
  const clientOrigins = new ClientOrigins(() => '')
  const sessions = new Sessions({
    clock,
    presence: { arrive() {}, leave() {} },
    clientOrigins,
    totalBacklogBytes: 1_000,
  })
  const { unreadDelayMs, unreadPeriodMs } = realtimeDefaults
  const log = createLog('error')
  const [codec, clientOrigin] = [findCodec('json', 'number')!, new ClientOrigin('', 0)]
  const policy = { isListed: () => true, isUnread: () => true }
  const userTopic = new UserTopic({ sessions, policy, unreadDelayMs, unreadPeriodMs, clock, log })
  const users = Array.from({ length: count }, (_, i) => i + 1)
  const ears = users.map(user => {
    const ear = new Ear()
    const session = new Session(ear, { codec, clientOrigin }, clock.now())
    sessions.add(session)
    sessions.open(session, { kind: 'user', user, credential: '' }, Number.POSITIVE_INFINITY)
    return ear
  })
  const members = users.map(user_id => ({ app_id: 1, user_id }) as MemberRow)
  const state = new AppState({ id: 1 } as AppRow, members, new Recent([], false))
  const write = (last_id: number) => {
    const before = state.app
    state.app = { ...before, last_id }
    userTopic.onCommit({ before, after: state.app, events: [], members: new Map() }, state, new Map())
  }
  return { clock, ears, users, write, unreadDelayMs, unreadPeriodMs }
}

test('what is written while many are being sent what came before is sent to all of them', async () => {
  const { clock, ears, users, write, unreadDelayMs, unreadPeriodMs } = startTopic(60)

  write(1)
  clock.advance(unreadDelayMs)
  const toldSoFar = ears.filter(({ frames }) => frames.length > 0).length
  write(2)

  expect(toldSoFar).toBeGreaterThan(0)
  expect(toldSoFar).toBeLessThan(users.length)
  await eventually(() => {
    clock.advance(unreadPeriodMs)
    expect(ears.map(({ frames }) => frames.at(-1)?.last_id)).toEqual(users.map(() => 2))
  })
})

test('a first change is sent soon, and those that follow once in a period', async () => {
  const { clock, ears, write, unreadDelayMs, unreadPeriodMs } = startTopic(1)
  const told = () => ears[0]!.frames.map(frame => frame.last_id)

  write(1)
  clock.advance(unreadDelayMs)
  expect(told()).toEqual([1])
  // The batch ends in a microtask, after which others begin.
  await nextTurn()

  for (let last = 2; last <= 4; last++) {
    write(last)
    clock.advance(unreadPeriodMs / 4)
  }
  expect(told()).toEqual([1])
  clock.advance(unreadPeriodMs / 4)
  expect(told()).toEqual([1, 4])
  await nextTurn()

  clock.advance(unreadPeriodMs)
  write(5)
  clock.advance(unreadDelayMs)
  expect(told()).toEqual([1, 4, 5])
})
