import { expect, test } from 'vitest'
import { createParley } from '../../src/client/index.ts'
import { copyDatabase, createDatabase } from '../support/database.ts'
import { chatWithAgent, answersIn, makeAgent } from '../support/agents.ts'
import { eventually } from '../support/eventually.ts'
import { joinHub } from '../support/hub.ts'
import type { PostgresServer } from '../support/postgres-server.ts'
import { listen } from '../support/realtime.ts'
import { startReceiver } from '../support/receiver.ts'
import { startRedis } from '../support/redis.ts'
import { startReplicated, type Replicated } from '../support/replicated.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { payloadOf, register } from '../support/webhooks.ts'

/** A node that may use either of two servers, with a room whose first messages both have. */
async function startWorld() {
  const postgres = await startReplicated()
  const server = await startServer({ DATABASE_URL: postgres.url })
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const kept = await sendAll(ann, app, 'kept', 5)
  return {
    postgres,
    server,
    app,
    ann,
    ben,
    kept,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await postgres[Symbol.asyncDispose]()
    },
  }
}

/** Sends messages and gives their ids. */
async function sendAll(by: Person, app: string, word: string, count: number): Promise<number[]> {
  const ids: number[] = []
  for (let i = 0; i < count; i++) {
    const { status, body } = await by.post(`/api/apps/${app}/messages`, { text: `${word} ${i}` })
    expect(status).toBe(201)
    ids.push(Number(body.id))
  }
  return ids
}

/** From now on what the primary acknowledges will be lost. */
async function beginLosing({ primary, standby }: Replicated): Promise<void> {
  await primary.awaitStandby(standby)
  await standby.isolate()
}

/** The standby takes over, without what it does not have. */
async function failOver({ primary, standby }: Replicated): Promise<void> {
  await primary.crash()
  await standby.promote()
}

/** Sends a message as soon as the node serves again. */
async function sendWhenServed(by: Person, app: string, text: string): Promise<number> {
  return eventually(
    async () => {
      const { status, body } = await by.post(`/api/apps/${app}/messages`, { text })
      expect(status).toBe(201)
      return Number(body.id)
    },
    { timeoutMs: 30_000 },
  )
}

async function textsIn(by: Person, app: string): Promise<string[]> {
  const { status, body } = await by.get(`/api/apps/${app}/messages?order_by=id&take=100`)
  expect(status).toBe(200)
  return (body.data ?? []).map(({ text }: { text: string }) => text)
}

async function positionOf({ sql }: PostgresServer): Promise<string> {
  const [row] = await sql<[{ position: string }]>`select pg_current_wal_flush_lsn()::text as position`
  return row.position
}

/** The epoch that a node says it is in. */
async function epochOf({ url }: Server, { token }: Person): Promise<string> {
  await using socket = await listen(url, {})
  socket.say({ type: 'hello', access_token: token })
  return (await socket.hear('welcome')).epoch
}

/** The types of the frames about the app that a client is sent that comes back with these words. */
async function resume({ url }: Server, { token }: Person, words: object): Promise<string[]> {
  await using socket = await listen(url, { token })
  socket.say({ type: 'subscribe', ...words })
  await socket.hear('subscribed')
  await socket.settle()
  const ofApp = new Set(['event', 'current', 'reset', 'unsubscribed', 'error'])
  // A notification of what was written before may come meanwhile.
  return socket.frames.flatMap(({ type }) => (ofApp.has(type) ? [type] : []))
}

test('after a failover that lost commits a running node believes nothing that it had in memory', async () => {
  await using world = await startWorld()
  const { postgres, server, app, ann, ben, kept } = world
  const before = await epochOf(server, ann)
  await beginLosing(postgres)
  const lost = await sendAll(ben, app, 'lost', 5)
  const ghost = await server.person('Ghost')
  const { body: room } = await server.admin.post('/api/apps', { type: 'chat_room', members: [ghost.id, ann.id] })
  const keyed = { 'idempotency-key': 'written twice' }
  await ann.post(`/api/apps/${app}/messages`, { text: 'again' }, keyed)
  expect(await textsIn(ghost, room.id)).toEqual([])
  expect(await textsIn(ann, app)).toHaveLength(11)

  await failOver(postgres)
  const first = await sendWhenServed(ann, app, 'new')

  expect(await textsIn(ann, app)).toEqual([...kept.map((_, i) => `kept ${i}`), 'new'])
  expect(first).toBeGreaterThan(lost.at(-1)!)
  expect(await ghost.get('/api/user')).toMatchObject({ status: 401 })
  expect(await ann.get(`/api/apps/${room.id}`)).toMatchObject({ status: 404 })
  expect(await server.admin.get(`/api/users/${ghost.id}`)).toMatchObject({ status: 404 })
  expect(await server.admin.get(`/api/users/${ghost.uid}`)).toMatchObject({ status: 404 })
  expect(await ann.get(`/api/messages/${lost[0]}`)).toMatchObject({ status: 404 })
  const { body: again } = await ann.post(`/api/apps/${app}/messages`, { text: 'again' }, keyed)
  expect(await textsIn(ann, app)).toContain('again')
  expect(Number(again.id)).toBeGreaterThan(first)
  // What has come since then is of those that the database has.
  const rows = await postgres.standby.sql`
    select from messages m left join users u on u.id = m.created_by where u.id is null`
  expect(rows).toHaveLength(0)
  expect(await epochOf(server, ann)).not.toBe(before)
})

/** What our client was told of an app. */
function watch({ url }: Server, { token }: Person, app: string) {
  const told = { events: [] as number[], snapshots: 0 }
  const parley = createParley({ url, token })
  const followed = parley.app(app)
  followed.follow({ event: ({ rev }) => void told.events.push(rev), snapshot: () => void told.snapshots++ })
  return { told, followed, [Symbol.dispose]: () => parley.close() }
}

test('the clients of a running node are told, and get everything of the history that there is', async () => {
  await using world = await startWorld()
  const { postgres, server, app, ann, ben } = world
  await using socket = await listen(server.url, { token: ann.token })
  await socket.subscribe(app)
  await using hub = await joinHub(server.url, { token: () => ann.token, retryDelaysMs: Array(100).fill(100) })
  const hubCameBack = Promise.withResolvers<void>()
  hub.connection.onreconnected(() => hubCameBack.resolve())
  using client = watch(server, ann, app)
  await eventually(() => expect(client.followed.place).toBeDefined())
  const { snapshots } = client.told
  await beginLosing(postgres)
  const lost = await sendAll(ben, app, 'lost', 5)
  await eventually(() => expect(client.told.events).toHaveLength(5))

  await failOver(postgres)

  expect(await socket.closed).toBe(1012)
  await hubCameBack.promise
  await eventually(() => expect(client.told.snapshots).toBe(snapshots + 1), { timeoutMs: 30_000 })
  for (let i = 0; i < 5; i++) await sendWhenServed(ben, app, `new ${i}`)
  await eventually(() => expect(client.told.events.filter(rev => rev > lost.at(-1)!)).toHaveLength(5))
})

test('a client that comes back with a rev of a history that was lost is reset, also by a node that was not there', async () => {
  await using world = await startWorld()
  const { postgres, server, app, ann, ben } = world
  await using socket = await listen(server.url, { token: ann.token })
  const { epoch: before, rev: common } = await socket.subscribe(app)
  await beginLosing(postgres)
  await sendAll(ben, app, 'lost', 5)
  const lost = (await socket.take(5)).map(({ rev }) => rev)
  await failOver(postgres)
  await using other = await startServer({ DATABASE_URL: postgres.url })

  for (const node of [server, other]) {
    await eventually(async () => expect(await epochOf(node, ann)).not.toBe(before), { timeoutMs: 30_000 })
    const after = await epochOf(node, ann)
    const told = (words: object) => resume(node, ann, { app_id: app, ...words })
    // Nothing has come since both histories parted, so that a client without an epoch may go on.
    if (node === server) expect(await told({ after: common })).toEqual([])
    expect(await told({ after: common, epoch: before })).toEqual(['reset'])
    await sendWhenServed(ben, app, 'new')
    await using live = await listen(node.url, { token: ann.token })
    const { rev: head } = await live.subscribe(app)

    for (const rev of lost) {
      expect(await told({ after: rev })).toEqual(['reset'])
      expect(await told({ after: rev, epoch: before })).toEqual(['reset'])
    }
    expect(await told({ after: head, epoch: before })).toEqual(['reset'])
    expect(await told({ after: head })).toEqual([])
    expect(await told({ after: head, epoch: after })).toEqual([])
    // Both histories have it, and the one that there is goes on from there.
    for (const epoch of [after, undefined]) {
      live.say({ type: 'subscribe', app_id: app, after: common, epoch })
      expect(await live.hear('event')).toMatchObject({ prev: common })
      await live.hear('current')
    }
  }
})

test('webhooks and agents go on with the history that there is', async () => {
  await using world = await startWorld()
  const { postgres, server, app, ann } = world
  await using receiver = await startReceiver()
  await register(server, receiver.url)
  await makeAgent(server)
  const chat = await chatWithAgent(ann)
  await ann.post(`/api/apps/${chat}/messages`, { text: 'first question' })
  await answersIn(ann, chat)
  await beginLosing(postgres)
  await ann.post(`/api/apps/${chat}/messages`, { text: 'lost question' })
  await answersIn(ann, chat, { count: 2 })

  await failOver(postgres)
  const sent = await sendWhenServed(ann, app, 'new')
  await ann.post(`/api/apps/${chat}/messages`, { text: 'second question' })

  const answers = await answersIn(ann, chat, { count: 2 })
  expect(answers.at(-1).text).toContain('second question')
  await eventually(() => {
    const ids = receiver.requests.map(payloadOf).map(({ message }) => Number(message.id))
    expect(ids.filter(id => id === sent)).toHaveLength(1)
    expect(ids).toContain(Number(answers.at(-1).id))
  })
})

test('a PostgreSQL that has crashed and recovers goes on in the same epoch', async () => {
  await using world = await startWorld()
  const { postgres, server, app, ann } = world
  const before = await epochOf(server, ann)
  await using socket = await listen(server.url, { token: ann.token })
  await socket.subscribe(app)

  await postgres.primary.crash()
  await postgres.primary.start()
  await sendWhenServed(ann, app, 'after the crash')

  await socket.take(1)
  expect(await epochOf(server, ann)).toBe(before)
})

test('a replica that has what the history has lost is not read', async () => {
  await using postgres = await startReplicated()
  const { primary, standby, url } = postgres
  await using server = await startServer({ DATABASE_URL: url, DATABASE_REPLICA_URL: primary.url })
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  await sendAll(ann, app, 'walnut', 150)
  const counted = async (word: string) => (await ann.get(`/api/apps/${app}/messages?q=${word}`)).body.count
  await beginLosing(postgres)
  await sendAll(ann, app, 'hazelnut', 20)
  // So that its log is longer, whatever the standby writes.
  await primary.sql`create table filler as select generate_series(1, 500000)`
  await failOver(postgres)
  await primary.startAsStandby()

  await sendWhenServed(ann, app, 'chestnut')

  const [lines] = await primary.sql`select pg_last_wal_replay_lsn() > ${await positionOf(standby)}::pg_lsn as is_ahead`
  expect(lines).toEqual({ is_ahead: true })
  expect([await counted('walnut'), await counted('hazelnut'), await counted('chestnut')]).toEqual(['150', '0', '1'])
})

test('a snapshot of the disk that is put back is another history, although the server says nothing of it', async () => {
  await using world = await startWorld()
  const { postgres, server, app, ann, kept } = world
  const before = await epochOf(server, ann)
  await postgres.primary.crash()
  const putBack = postgres.primary.snapshot()
  await postgres.primary.start()
  await sendWhenServed(ann, app, 'lost')
  const ghost = await server.person('Ghost')

  await postgres.primary.crash()
  putBack()
  await postgres.primary.start()
  await sendWhenServed(ann, app, 'new')

  expect(await textsIn(ann, app)).toEqual([...kept.map((_, i) => `kept ${i}`), 'new'])
  expect(await ghost.get('/api/user')).toMatchObject({ status: 401 })
  expect(await epochOf(server, ann)).not.toBe(before)
})

test('a copy of the database that is put back under a running node is another history', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const before = await epochOf(server, ann)
  const putBack = await copyDatabase(database)
  const [lost] = await sendAll(ann, app, 'lost', 1)
  const ghost = await server.person('Ghost')

  await using socket = await listen(server.url, { token: ann.token })
  await putBack()
  expect(await socket.closed).toBe(1012)
  const sent = await sendWhenServed(ann, app, 'new')

  expect(await textsIn(ann, app)).toEqual(['new'])
  expect(sent).toBeGreaterThan(lost!)
  expect(await ghost.get('/api/user')).toMatchObject({ status: 401 })
  expect(await epochOf(server, ann)).not.toBe(before)
})

test('three nodes: everything that the new history acknowledges reaches every client, and nothing else', async () => {
  await using postgres = await startReplicated()
  await using redis = await startRedis()
  const start = () => startServer({ DATABASE_URL: postgres.url, REDIS_URL: redis.url })
  await using one = await start()
  await using two = await start()
  await using three = await start()
  const nodes = [one, two, three]
  const { app, people } = await one.chatWith(4)
  const clients = nodes.flatMap(node => Array.from({ length: 5 }, (_, i) => watch(node, people[i % 4]!, app)))
  await eventually(() => expect(clients.every(({ followed }) => followed.place !== undefined)).toBe(true))
  await beginLosing(postgres)
  const over = new AbortController()
  const acknowledged: { id: number; atMs: number }[] = []
  const statuses = new Set<number>()
  const writers = people.map(async ({ token }, i) => {
    while (!over.signal.aborted) {
      // A connection that waited while the parts of its node were replaced is closed.
      const response = await fetch(`${nodes[i % 3]!.url}/api/apps/${app}/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'x' }),
      }).catch(() => null)
      if (response === null) continue
      statuses.add(response.status)
      const body = (await response.json()) as { id: string }
      if (response.status === 201) acknowledged.push({ id: Number(body.id), atMs: performance.now() })
    }
  })
  await eventually(() => expect(acknowledged.length).toBeGreaterThan(30), { timeoutMs: 30_000 })

  await failOver(postgres)
  const promotedAtMs = performance.now()
  const isNew = ({ atMs }: { atMs: number }) => atMs > promotedAtMs
  await eventually(() => expect(acknowledged.filter(isNew).length).toBeGreaterThan(100), { timeoutMs: 60_000 })
  over.abort()
  await Promise.all(writers)

  expect([...statuses].toSorted()).toEqual([201, 503])
  const rows = await postgres.standby.sql<{ id: number }[]>`select id from messages where app_id = ${app}`
  const stored = new Set(rows.map(({ id }) => id))
  expect(acknowledged.filter(isNew).filter(({ id }) => !stored.has(id))).toEqual([])
  const events = await postgres.standby.sql<{ rev: number }[]>`
    select rev from events where app_id = ${app} and type = 'message_created' order by rev`
  const [begun] = await postgres.standby.sql<[{ start: number }]>`select epoch_start as start from environment`
  const ofHistory = events.map(({ rev }) => rev).filter(rev => rev > begun.start)
  for (const { told, followed } of clients) {
    await eventually(() => expect(followed.place?.rev).toBe(events.at(-1)!.rev), { timeoutMs: 30_000 })
    // One at first, and one of the new history.
    expect(told.snapshots).toBe(2)
    expect(new Set(told.events).size).toBe(told.events.length)
    const ofNew = new Set(told.events.filter(rev => rev > begun.start))
    // What came before a client had reset is in its snapshot.
    const from = Math.min(...ofNew)
    expect(ofHistory.filter(rev => rev >= from && !ofNew.has(rev))).toEqual([])
    expect([...ofNew].filter(rev => !ofHistory.includes(rev))).toEqual([])
  }
  for (const client of clients) client[Symbol.dispose]()
})
