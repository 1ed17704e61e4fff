import { expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { joinHub } from '../support/hub.ts'
import { startPair, type Pair } from '../support/pair.ts'
import { listen } from '../support/realtime.ts'
import { redisIsMissing } from '../support/redis.ts'
import { startServer, type Server } from '../support/server.ts'

const list = async ({ admin }: Pick<Server, 'admin'>, query = ''): Promise<Body> =>
  (await admin.get(`/api/admin/sessions${query}`)).body

/** Waits until the nodes hear each other: subscribing at Redis takes a moment. */
async function acquainted({ here, there }: Pair): Promise<void> {
  for (const node of [here, there]) {
    await eventually(async () => expect((await list(node)).silent_nodes).toBeUndefined())
  }
}

test('a connection is listed with who it is, since when, from where, and what it is subscribed to', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  await using inbox = await listen(server.url, { token: ann.token })
  await inbox.subscribe(app)

  const { data, count, silent_nodes } = await list(server)

  expect([count, silent_nodes]).toEqual(['1', undefined])
  const [{ id: node }] = (await server.admin.get('/api/admin/nodes')).body
  expect(data[0]).toMatchObject({
    id: expect.stringContaining(node),
    node,
    kind: 'native',
    user: { id: ann.id, uid: ann.uid, name: expect.any(String) },
    ip: '127.0.0.1',
    apps: [{ id: app, type: 'chat_room' }],
    subscriptions: '1',
  })
  expect(Math.abs(Date.parse(data[0].since) - Date.now())).toBeLessThan(60_000)
})

test('one that has not said who it is is listed without a user, and one of the hub as such', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using stranger = await listen(server.url)
  await using hub = await joinHub(server.url, { token: () => ann.token })

  const { data } = await list(server)

  expect(data.map(({ kind, user }: Body) => [kind, user?.uid])).toEqual([
    ['hub', ann.uid],
    ['native', undefined],
  ])
  expect([stranger.frames, hub.told]).toEqual([[], []])
})

test('connections are found by user and by app, and counted', async () => {
  await using server = await startServer()
  const { app, people, stranger } = await server.chatWith(2)
  const [ann, ben] = people
  await using one = await listen(server.url, { token: ann.token })
  await using two = await listen(server.url, { token: ann.token })
  await using three = await listen(server.url, { token: ben.token })
  await two.subscribe(app)
  const countOf = async (query: string) => (await list(server, `?count_only=true&${query}`)).count

  expect(await countOf('')).toBe('3')
  expect(await countOf(`user=${ann.uid}`)).toBe('2')
  expect(await countOf(`user=${stranger.id}`)).toBe('0')
  expect(await countOf(`app=${app}`)).toBe('1')
  expect(await countOf(`app=${app}&user=${ben.id}`)).toBe('0')
  expect((await server.admin.get('/api/admin/sessions?user=missing')).status).toBe(404)
  expect((await server.admin.get('/api/admin/sessions?app=missing')).status).toBe(404)
  expect((await ann.get('/api/admin/sessions')).status).toBe(403)
  expect([one.frames, three.frames]).toEqual([[], []])
})

test('pages are newest first, and end where each node would have to send too much', async () => {
  await using server = await startServer()
  const people = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  await using one = await listen(server.url, { token: people[0]!.token })
  await using two = await listen(server.url, { token: people[1]!.token })
  await using three = await listen(server.url, { token: people[2]!.token })

  const { data, start, end, count } = await list(server, '?skip=1&take=1')
  const tooDeep = await server.admin.get('/api/admin/sessions?skip=901&take=100')

  expect([data[0].user.uid, start, end, count]).toEqual([people[1]!.uid, '1', '2', '3'])
  expect([tooDeep.status, tooDeep.body.errors]).toEqual([422, { skip: [expect.any(String)] }])
  expect([one, two, three].every(({ frames }) => frames.length === 0)).toBe(true)
})

test('a connection that is ended is told with 4410, and what names none is not found', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using inbox = await listen(server.url, { token: ann.token })
  await using other = await listen(server.url, { token: ann.token })
  await using hub = await joinHub(server.url, { token: () => ann.token })
  const { data } = await list(server)
  const ended = new Promise(resolve => hub.connection.onclose(resolve))
  const [ofHub, , ofInbox] = data

  const statuses = [ofHub, ofInbox].map(({ id }: Body) => server.admin.delete(`/api/admin/sessions/${id}`))

  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([204, 204])
  expect(await inbox.closed).toBe(4410)
  await ended
  await other.settle()
  const again = await server.admin.delete(`/api/admin/sessions/${ofInbox.id}`)
  const nonsense = await server.admin.delete('/api/admin/sessions/7')
  const elsewhere = await server.admin.delete(`/api/admin/sessions/00000000-0000-4000-8000-000000000000.1`)
  expect([again.status, nonsense.status, elsewhere.status]).toEqual([404, 404, 404])
})

test('who ended a connection is written down', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using inbox = await listen(server.url, { token: ann.token })
  const [{ id }] = (await list(server)).data

  await server.admin.delete(`/api/admin/sessions/${id}`)

  const { body } = await server.admin.get('/api/audit?action=session_ended')
  expect(body.data[0]).toMatchObject({ actor: { name: 'API_KEY' }, target: { type: 'realtime_session', name: id } })
  await inbox.closed
})

test.skipIf(redisIsMissing)('any node lists and ends the connections of all', async () => {
  await using pair = await startPair({ hasRedis: true })
  const { here, there } = pair
  await acquainted(pair)
  const { app, people } = await here.chatWith(2)
  await using near = await listen(here.url, { token: people[0].token })
  await using far = await listen(there.url, { token: people[1].token })
  await far.subscribe(app)

  const { data } = await eventually(async () => {
    const found = await list(here)
    expect(found.count).toBe('2')
    return found
  })
  const ofApp = await eventually(async () => {
    const found = await list(here, `?app=${app}`)
    expect(found.count).toBe('1')
    return found
  })

  expect(data.map(({ user }: Body) => user.id)).toEqual([people[1].id, people[0].id])
  expect(new Set(data.map(({ node }: Body) => node)).size).toBe(2)
  expect(ofApp.data).toEqual([data[0]])
  expect((await here.admin.delete(`/api/admin/sessions/${data[0].id}`)).status).toBe(204)
  expect(await far.closed).toBe(4410)
  await eventually(async () => expect((await here.admin.delete(`/api/admin/sessions/${data[0].id}`)).status).toBe(404))
  await near.settle()
})

test.skipIf(redisIsMissing)('a node that does not answer is named, and does not hold up the list', async () => {
  await using pair = await startPair({ hasRedis: true })
  await acquainted(pair)
  const lost = '00000000-0000-4000-8000-000000000001'
  await pair.sql`
    insert into nodes (id, host, version, started_at, seen_at, figures)
    values (${lost}, 'lost', '1.0.0', now(), now(), '{}')`

  const { count, silent_nodes } = await list(pair.here)

  expect([count, silent_nodes]).toEqual(['0', [lost]])
})

test('without Redis a node lists its own connections, names the others as missing, and ends those all the same', async () => {
  await using pair = await startPair({ hasRedis: false })
  const { here, there } = pair
  const ann = await here.person('Ann')
  await using inbox = await listen(there.url, { token: ann.token })
  const [{ id, node }] = (await list(there)).data

  const { count, silent_nodes } = await list(here)
  const ended = await here.admin.delete(`/api/admin/sessions/${id}`)

  expect([count, silent_nodes]).toEqual(['0', [node]])
  expect(ended.status).toBe(204)
  expect(await inbox.closed).toBe(4410)
})
