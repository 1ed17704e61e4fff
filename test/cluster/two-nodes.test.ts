import { expect, test } from 'vitest'
import type { Sql } from '../../src/postgres/sql.ts'
import { client, type Body, type Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory, startProgram, type ReadyProgram } from '../support/process.ts'
import { createReplyCheck } from '../support/replies.ts'

/** Without Redis, news of other nodes are at most this old. */
const newsMs = 2_000

/** The same person, through each node. */
interface Visitor {
  id: string
  here: Client
  there: Client
}

interface Pair extends AsyncDisposable {
  nodes: [ReadyProgram, ReadyProgram]
  sql: Sql
  admin: Client
  visit(name: string): Promise<Visitor>
}

/** The program twice, in processes of their own, on one database. */
async function startPair(): Promise<Pair> {
  const parts: AsyncDisposable[] = []
  const use = <Part extends AsyncDisposable>(part: Part) => {
    parts.unshift(part)
    return part
  }
  const database = use(await createDatabase())
  const dir = use(createDirectory())
  const start = async () => {
    return use(await startProgram(dir, { DATABASE_URL: database.url, DATABASE_CONNECTIONS: '5' }))
  }
  const nodes = await Promise.all([start(), start()])
  const check = createReplyCheck()
  const { admin } = nodes[0]
  let visitors = 0
  return {
    nodes,
    sql: database.sql,
    admin,
    async visit(name) {
      const { body: user } = await admin.post('/api/users', { uid: `${name}-${++visitors}`, name })
      const { body: token } = await admin.post(`/api/users/${user.id}/tokens`)
      const [here, there] = nodes.map(({ url }) => client(url, token.access_token, check))
      return { id: user.id, here: here!, there: there! }
    },
    async [Symbol.asyncDispose]() {
      for (const part of parts) await part[Symbol.asyncDispose]()
    },
  }
}

const idsOf = (body: Body): string[] => (body.data ?? []).map((item: Body) => item.id)

test('two nodes that write to the same apps at once make one history of each, without a gap', async () => {
  await using pair = await startPair()
  const [ann, ben] = [await pair.visit('Ann'), await pair.visit('Ben')]
  const apps = await Promise.all([1, 2, 3].map(() => ann.here.post('/api/apps', { type: 'chat', members: [ben.id] })))
  const ids = apps.map(({ body }) => body.id as string)

  const work = Array.from({ length: 120 }, (_, i) => {
    const path = `/api/apps/${ids[i % 3]}`
    const one = [ann.here, ann.there, ben.here, ben.there][i % 4]!
    return i % 10 === 9 ? one.put(`${path}/mark`) : one.post(`${path}/messages`, { text: `message ${i}` })
  })
  const answers = await Promise.all(work)

  expect(answers.map(({ status }) => status).filter(status => status >= 300)).toEqual([])
  for (const id of ids) {
    const log = await pair.sql<{ rev: number; prev: number }[]>`
      select rev, prev from events where app_id = ${id} order by rev`
    expect(log.map(({ prev }) => prev)).toEqual([0, ...log.slice(0, -1).map(({ rev }) => rev)])
    const [kept] = await pair.sql`select head_rev, item_count::int, last_id from apps where id = ${id}`
    const [found] =
      await pair.sql`select count(*)::int as item_count, max(id) as last_id from messages where app_id = ${id}`
    expect(kept).toEqual({ head_rev: log.at(-1)!.rev, ...found })
    // Each node has all of it, in the same order, as soon as it has heard.
    await eventually(
      async () => {
        const [here, there] = await Promise.all(
          [ann.here, ann.there].map(one => one.get(`/api/apps/${id}/messages?take=100`)),
        )
        expect(idsOf(here!.body)).toHaveLength(found!.item_count)
        expect(idsOf(there!.body)).toEqual(idsOf(here!.body))
      },
      { timeoutMs: newsMs },
    )
  }
})

test('what is acknowledged is there exactly once, while connections of two busy nodes are ended again and again', async () => {
  await using pair = await startPair()
  const ann = await pair.visit('Ann')
  const apps = await Promise.all([1, 2].map(() => ann.here.post('/api/apps', { type: 'chat' })))
  const ids = apps.map(({ body }) => body.id as string)
  const ending = new AbortController()
  const acknowledged: string[] = []
  const refused: string[] = []

  const writing = Array.from({ length: 8 }, async (_, writer) => {
    const path = `/api/apps/${ids[writer % 2]}/messages`
    for (let turn = 0; !ending.signal.aborted; turn++) {
      const text = `${writer}:${turn}`
      // Half of them ask the other node again under the same key until they know; the others give up.
      const isSure = writer % 4 < 2
      for (let attempt = 0; ; attempt++) {
        const one = (writer + turn + attempt) % 3 === 0 ? ann.there : ann.here
        const { status } = await one.post(path, { text }, isSure ? { 'idempotency-key': text } : {})
        expect([201, 503]).toContain(status)
        if (status === 201) acknowledged.push(text)
        else refused.push(text)
        if (status === 201 || !isSure) break
      }
    }
  })
  for (let kills = 0; kills < 15 || refused.length === 0; kills++) {
    const before = acknowledged.length
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(before + (kills % 9)), {
      everyMs: 1,
      timeoutMs: 15_000,
    })
    await pair.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
  }
  ending.abort()
  await Promise.all(writing)

  const stored = await pair.sql<{ text: string }[]>`select text from messages order by text`
  expect(new Set(stored.map(({ text }) => text)).size).toBe(stored.length)
  expect(stored.map(({ text }) => text)).toEqual(expect.arrayContaining(acknowledged))
  for (const id of ids) {
    const log = await pair.sql<{ rev: number; prev: number }[]>`
      select rev, prev from events where app_id = ${id} order by rev`
    expect(log.map(({ prev }) => prev)).toEqual([0, ...log.slice(0, -1).map(({ rev }) => rev)])
    const [kept] = await pair.sql`select head_rev, item_count::int from apps where id = ${id}`
    const [found] = await pair.sql`select count(*)::int as item_count from messages where app_id = ${id}`
    expect(kept).toEqual({ head_rev: log.at(-1)!.rev, ...found })
  }
})

test('what may happen only once happens once, whichever nodes are asked at the same moment', async () => {
  await using pair = await startPair()
  const [ann, ben] = [await pair.visit('Ann'), await pair.visit('Ben')]

  for (let round = 0; round < 5; round++) {
    const pairs = await Promise.all([
      ann.here.post('/api/apps', { type: 'private_chat', members: [ben.id] }),
      ben.there.post('/api/apps', { type: 'private_chat', members: [ann.id] }),
    ])
    expect(pairs.map(({ status }) => status)).toEqual([201, 201])
    expect(pairs[0]!.body.id).toBe(pairs[1]!.body.id)

    const upserts = await Promise.all([
      ann.here.put(`/api/apps/round-${round}`, { type: 'chat' }),
      ben.there.put(`/api/apps/round-${round}`, { type: 'chat' }),
    ])
    expect(upserts.map(({ status }) => status).toSorted()).toEqual([200, 201])
    const app = upserts[0]!.body.id
    expect(upserts[1]!.body.id).toBe(app)

    const key = { 'idempotency-key': `round ${round}` }
    const sends = await Promise.all(
      [ann.here, ann.there, ann.here, ann.there].map(one =>
        one.post(`/api/apps/${app}/messages`, { text: 'once' }, key),
      ),
    )
    expect(sends.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(new Set(sends.map(({ body }) => body.id)).size).toBe(1)
  }
  const [messages] = await pair.sql`select count(*)::int as count from messages`
  expect(messages).toEqual({ count: 5 })
})

test('two admins who make each other less through different nodes leave one of them', async () => {
  await using pair = await startPair()
  const [ann, ben] = [await pair.visit('Ann'), await pair.visit('Ben')]

  for (let round = 0; round < 5; round++) {
    const { body: app } = await ann.here.post('/api/apps', { type: 'chat', members: [ben.id] })
    await ann.here.put(`/api/apps/${app.id}/members/${ben.id}`, { access: 'admin' })
    await ben.there.get(`/api/apps/${app.id}`)
    const answers = await Promise.all([
      ann.here.put(`/api/apps/${app.id}/members/${ben.id}`, { access: 'write' }),
      ben.there.put(`/api/apps/${app.id}/members/${ann.id}`, { access: 'write' }),
    ])

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403])
    const members = await pair.sql<{ access: string }[]>`select access from members where app_id = ${app.id}`
    expect(members.map(({ access }) => access).toSorted()).toEqual(['admin', 'write'])
  }
})

test('a right that was withdrawn through one node is gone at once for writes through the other', async () => {
  await using pair = await startPair()
  const [ann, ben] = [await pair.visit('Ann'), await pair.visit('Ben')]
  await pair.admin.post('/api/directories', { name: 'acme' })
  const write = (id: string) => ben.there.post(`/api/apps/${id}/messages`, { text: 'hi' })

  for (let round = 0; round < 5; round++) {
    const { body: app } = await ann.here.post('/api/apps', { type: 'chat', members: [ben.id] })
    expect((await write(app.id)).status).toBe(201)
    await ann.here.delete(`/api/apps/${app.id}/members/${ben.id}`)
    expect((await write(app.id)).status).toBe(404)
    await ann.here.patch(`/api/apps/${app.id}`, { access: 'write' })
    expect((await write(app.id)).status).toBe(201)
    await ann.here.put(`/api/apps/${app.id}/members/${ben.id}`, { access: 'read' })
    expect((await write(app.id)).status).toBe(403)
    await ann.here.post(`/api/apps/${app.id}/trash`)
    expect((await write(app.id)).status).toBe(404)

    const { body: inside } = await pair.admin.post('/api/apps', { type: 'chat', access: 'write', directory: 'acme' })
    await pair.admin.put(`/api/directories/acme/members/${ben.id}`)
    expect((await write(inside.id)).status).toBe(201)
    await pair.admin.delete(`/api/directories/acme/members/${ben.id}`)
    expect((await write(inside.id)).status).toBe(404)
    await pair.admin.delete(`/api/apps/${inside.id}`)
    expect((await write(inside.id)).status).toBe(404)
  }
})

test('what one node has in memory follows the other within two seconds', async () => {
  await using pair = await startPair()
  const [ann, ben] = [await pair.visit('Ann'), await pair.visit('Ben')]
  const { body: app } = await ann.here.post('/api/apps', { type: 'chat', members: [ben.id] })
  const path = `/api/apps/${app.id}`
  await ben.there.get(path)
  const soon = (attempt: () => Promise<void>) => eventually(attempt, { timeoutMs: newsMs })

  const { body: sent } = await ann.here.post(`${path}/messages`, { text: 'first' })
  await soon(async () => {
    expect((await ben.there.get(path)).body).toMatchObject({ is_unread: true, last_message: { id: sent.id } })
    expect(idsOf((await ben.there.get(`${path}/messages`)).body)).toEqual([sent.id])
  })
  await ann.here.patch(`/api/messages/${sent.id}`, { text: 'edited' })
  await ann.here.patch(path, { name: 'Renamed' })
  await soon(async () =>
    expect((await ben.there.get(path)).body).toMatchObject({ name: 'Renamed', last_message: { text: 'edited' } }),
  )
  await pair.admin.patch(`/api/users/${ann.id}`, { name: 'Anna' })
  await soon(async () => expect((await ben.there.get(path)).body.last_message.created_by.name).toBe('Anna'))
  await ann.here.delete(`${path}/members/${ben.id}`)
  await soon(async () => expect((await ben.there.get(path)).status).toBe(404))
})

test('whoever loses their token or account through one node is refused by the other within two seconds', async () => {
  await using pair = await startPair()
  const [ann, ben, eve] = [await pair.visit('Ann'), await pair.visit('Ben'), await pair.visit('Eve')]
  for (const one of [ann, ben, eve]) expect((await one.there.get('/api/user')).status).toBe(200)

  await pair.admin.delete(`/api/users/${ann.id}/tokens`)
  await pair.admin.post(`/api/users/${ben.id}/trash`)
  await pair.admin.delete(`/api/users/${eve.id}`)

  for (const one of [ann, ben, eve]) {
    expect((await one.here.get('/api/user')).status).toBe(401)
    await eventually(async () => expect((await one.there.get('/api/user')).status).toBe(401), { timeoutMs: newsMs })
  }
})

test(
  'a node that is frozen in the middle of a commit holds up the other for a few seconds at most',
  { timeout: 40_000 },
  async () => {
    await using pair = await startPair()
    const ann = await pair.visit('Ann')
    const { body: app } = await ann.here.post('/api/apps', { type: 'chat' })
    const send = (one: Client) => one.post(`/api/apps/${app.id}/messages`, { text: 'hi' })
    const [frozen] = pair.nodes
    const over = new AbortController()
    const writers = [ann.here, ann.there, ann.here, ann.there].map(async one => {
      while (!over.signal.aborted) await send(one)
    })

    // Both write to one app, so that they commit under its lock; the node is stopped until it is found to hold it.
    await eventually(
      async () => {
        frozen.kill('SIGSTOP')
        await pair.sql`select pg_sleep(0.1)`
        // The other node's transactions have gone on meanwhile.
        const holding = await pair.sql`
          select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'
            and backend_xid is not null and state_change < clock_timestamp() - interval '90 ms'`
        if (holding.length === 0) frozen.kill('SIGCONT')
        expect(holding).toHaveLength(1)
      },
      { timeoutMs: 20_000, everyMs: 20 },
    )
    const startedAt = performance.now()
    const { status } = await send(ann.there)
    const waitedMs = performance.now() - startedAt
    frozen.kill('SIGCONT')
    over.abort()
    await Promise.allSettled(writers)

    expect(status).toBe(201)
    expect(waitedMs).toBeLessThan(8_000)
  },
)

test('a node that is killed loses nothing that it acknowledged, and holds up nobody at the other', async () => {
  await using pair = await startPair()
  const ann = await pair.visit('Ann')
  const { body: app } = await ann.here.post('/api/apps', { type: 'chat' })
  const path = `/api/apps/${app.id}/messages`
  const acknowledged: string[] = []
  const send = async (one: Client) => {
    const { status, body } = await one.post(path, { text: 'hi' })
    if (status === 201) acknowledged.push(body.id)
  }

  const writers = Array.from({ length: 8 }, async () => {
    // Ends with the node.
    for (;;) await send(ann.here)
  })
  await eventually(() => expect(acknowledged.length).toBeGreaterThan(50))
  pair.nodes[0].kill('SIGKILL')
  await Promise.allSettled(writers)
  for (let i = 0; i < 5; i++) await send(ann.there)

  const rows = await pair.sql<{ id: string }[]>`select id::text from messages where app_id = ${app.id}`
  expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged))
  const log = await pair.sql<{ rev: number; prev: number }[]>`
    select rev, prev from events where app_id = ${app.id} order by rev`
  expect(log.map(({ prev }) => prev)).toEqual([0, ...log.slice(0, -1).map(({ rev }) => rev)])
})
