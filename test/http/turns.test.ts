import { expect, test } from 'vitest'
import { z } from 'zod'
import { Credentials, hashOf } from '../../src/auth/credentials.ts'
import { unauthenticated } from '../../src/auth/principal.ts'
import { reply, route } from '../../src/http/route.ts'
import { Turns } from '../../src/http/request/turns.ts'
import { SharedLog } from '../../src/log/shared-log.ts'
import { createDatabase } from '../support/database.ts'
import { startEdge } from '../support/edge.ts'
import { eventually } from '../support/eventually.ts'
import { requestText, Wire } from '../support/wire.ts'

function holdUp(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

/** An edge for Ann, Ben and an API key, whose requests run until the test lets them go. */
async function startHeld() {
  const database = await createDatabase()
  const { sql } = database
  const bytesOf = (token: string) => Buffer.from(hashOf(token), 'base64')
  await sql`insert into users (id, display_name, created_at) values (7, 'Ann', now()), (8, 'Ben', now())`
  await sql`insert into tokens (hash, user_id, created_at, expires_at) values
    (${bytesOf('wyu_ann')}, 7, now(), now() + interval '1 hour'),
    (${bytesOf('wyu_ben')}, 8, now(), now() + interval '1 hour')`
  await sql`insert into api_keys (hash, name, created_at) values (${bytesOf('wys_key')}, 'a', now())`

  const begun: { user: number; text: string; end: () => void }[] = []
  const signals: (AbortSignal | undefined)[] = []
  const worked: number[] = []
  const held = async (user: number, text = '') => {
    const { promise, resolve } = Promise.withResolvers<void>()
    begun.push({ user, text, end: resolve })
    await promise
    return reply(200, { text })
  }
  const routes = [
    route('POST /api/things', {
      summary: 'Write',
      auth: 'token or key',
      body: z.object({ text: z.string() }),
      replies: { 200: z.object({}) },
      handle: ({ by, body }) => held(by.user, body.text),
    }),
    route('GET /api/things', {
      summary: 'Read',
      auth: 'token or key',
      query: z.object({ q: z.string().optional() }),
      replies: { 200: z.object({}) },
      handle: ({ by, query, signal }) => {
        signals.push(signal)
        return held(by.user, query.q)
      },
    }),
    route('GET /api/pages', {
      summary: 'Hold up the event loop',
      auth: 'none',
      areCallersShared: true,
      replies: { 200: z.object({}) },
      handle: ({ by }) => {
        worked.push(by.user)
        holdUp(60)
        return reply(200, {})
      },
    }),
    route('POST /api/work', {
      summary: 'Hold up the event loop',
      auth: 'token or key',
      body: z.object({ ms: z.number() }),
      replies: { 200: z.object({}) },
      handle: ({ by, body }) => {
        worked.push(by.user)
        holdUp(body.ms)
        return reply(200, {})
      },
    }),
  ]
  const credentials = new Credentials(sql, new SharedLog(sql), () => new Date())
  // Known, so that requests are in their queues as soon as they have arrived.
  for (const token of ['wyu_ann', 'wyu_ben', 'wys_key']) await credentials.authenticate(token, () => '')
  const edge = await startEdge(routes, { sql, credentials, settings: { databaseConnections: 10 } })
  const as = (name: string) => ({ authorization: `Bearer ${name}` })
  return {
    begun,
    signals,
    worked,
    edge,
    work: (name: string, ms: number) => edge.post('/api/work', { ms }, as(name)),
    write: (name: string, text: string) => edge.post('/api/things', { text }, as(name)),
    search: (name: string, q: string) => edge.get(`/api/things?q=${q}`, as(name)),
    as,
    /** Resolves when what was sent before has arrived. */
    arrived: () => edge.get('/api/nothing'),
    /** Lets each request go that has begun or begins, until so many are over. */
    async endAll(count: number) {
      for (let ended = 0; ended < count; ended++) {
        await eventually(() => expect(begun.length).toBeGreaterThan(ended))
        begun[ended]!.end()
      }
    },
    async [Symbol.asyncDispose]() {
      for (const { end } of begun) end()
      await edge[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

test('requests of one user wait for each other, and hold up nobody else', async () => {
  await using held = await startHeld()
  const flood = Array.from({ length: 100 }, (_, i) => held.write('wyu_ann', String(i)))
  await eventually(() => expect(held.begun).toHaveLength(16))

  const other = held.write('wyu_ben', 'hello')
  await eventually(() => expect(held.begun).toHaveLength(17))

  expect(held.begun[16]).toMatchObject({ user: 8, text: 'hello' })
  await held.endAll(101)
  expect((await other).status).toBe(200)
  expect(new Set((await Promise.all(flood)).map(({ status }) => status))).toEqual(new Set([200]))
})

test('an API key, which acts for many people, has more at once than one person', async () => {
  await using held = await startHeld()

  const requests = Array.from({ length: 100 }, (_, i) => held.write('wys_key', String(i)))

  await eventually(() => expect(held.begun).toHaveLength(100))
  await held.endAll(100)
  await Promise.all(requests)
})

test('requests beyond what may wait of one user are refused, and say when to come again', async () => {
  await using held = await startHeld()

  const answers = Array.from({ length: 16 + 512 + 20 }, (_, i) => held.write('wyu_ann', String(i)))
  const refused = await Promise.any(
    answers.map(async answer => ((await answer).status === 429 ? answer : Promise.reject(new Error('Not refused')))),
  )

  expect(refused.headers.get('retry-after')).toBe('1')
  await held.endAll(16 + 512)
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses.filter(status => status === 429)).toHaveLength(20)
})

test('of searches one of each user runs at a time, and of all no more than their share of the connections', async () => {
  await using held = await startHeld()
  const flood = Array.from({ length: 30 }, (_, i) => held.search('wyu_ann', `word${i}`))
  await eventually(() => expect(held.begun).toHaveLength(1))

  const keys = Array.from({ length: 10 }, (_, i) => held.search('wys_key', `key${i}`))
  await eventually(() => expect(held.begun).toHaveLength(4))
  const other = held.search('wyu_ben', 'hello')
  await held.arrived()
  held.begun[0]!.end()
  held.begun[1]!.end()
  held.begun[2]!.end()

  await eventually(() => expect(held.begun.map(({ text }) => text)).toContain('hello'))
  expect(held.begun.length).toBeLessThanOrEqual(7)
  await held.endAll(41)
  await Promise.all([...flood, ...keys, other])
})

test('searches beyond what may wait are refused with 503 and Retry-After; other reads of the user go on', async () => {
  await using held = await startHeld()
  const flood = Array.from({ length: 70 }, (_, i) => held.search('wyu_ann', `word${i}`))

  const refused = await Promise.any(
    flood.map(async answer => ((await answer).status === 503 ? answer : Promise.reject(new Error('Not refused')))),
  )
  const list = held.edge.get('/api/things', held.as('wyu_ann'))

  expect(refused.headers.get('retry-after')).toBe('1')
  await eventually(() => expect(held.begun.map(({ text }) => text)).toContain(''))
  await held.endAll(66)
  expect((await list).status).toBe(200)
  await Promise.all(flood)
})

test('a search whose client has gone ends, and one that waits never begins', async () => {
  await using held = await startHeld()
  const client = new AbortController()
  const search = (q: string) =>
    fetch(`${held.edge.url}/api/things?q=${q}`, { headers: held.as('wyu_ann'), signal: client.signal }).catch(() => {})
  void search('running')
  await eventually(() => expect(held.begun).toHaveLength(1))
  void search('waiting')
  await held.arrived()

  client.abort()
  await eventually(() => expect(held.signals[0]?.aborted).toBe(true))
  held.begun[0]!.end()
  const next = held.search('wyu_ann', 'next')
  await eventually(() => expect(held.begun).toHaveLength(2))

  expect(held.begun[1]).toMatchObject({ text: 'next' })
  held.begun[1]!.end()
  expect((await next).status).toBe(200)
})

test('a user whose requests hold up the event loop rests between them, while others ask', async () => {
  await using held = await startHeld()
  const requests = Array.from({ length: 40 }, () => ({
    other: held.work('wyu_ben', 0),
    flood: held.work('wyu_ann', 60),
  }))
  const others = await Promise.all(requests.map(({ other }) => other))
  const before = held.worked.filter(user => user === 7).length

  const flood = await Promise.all(requests.map(one => one.flood))
  expect(before).toBeLessThan(20)
  expect(new Set([...others, ...flood].map(({ status }) => status))).toEqual(new Set([200]))
})

test('of bodies that arrive in part, no more is kept of one user than the largest take, and others are not refused', async () => {
  await using held = await startHeld()
  const half = async (name: string) => {
    const wire = await Wire.open(held.edge.port)
    const body = `{"text":"${'x'.repeat(1024 * 1024)}`
    const headers = { Authorization: `Bearer ${name}`, 'Content-Type': 'application/json', 'Content-Length': '2000000' }
    await wire.send(requestText('POST', '/api/things', headers, body))
    return wire
  }

  const flood = await Promise.all(Array.from({ length: 24 }, () => half('wyu_ann')))
  const other = await half('wyu_ben')
  const refused = await Promise.any(flood.map(wire => wire.answer()))
  await other.send(`${'x'.repeat(2_000_000 - 1024 * 1024 - 11)}"}`)

  expect([refused.status, refused.headers['retry-after'], refused.headers.connection]).toEqual([429, '1', 'close'])
  await eventually(() => expect(held.begun.map(({ user }) => user)).toEqual([8]))
  held.begun[0]!.end()
  expect((await other.answer()).status).toBe(200)
})

test('callers without a credential share the time of one user where they take much', async () => {
  await using held = await startHeld()
  await held.work('wyu_ben', 0)
  const requests = Array.from({ length: 40 }, () => ({
    other: held.work('wyu_ben', 0),
    flood: held.edge.get('/api/pages'),
  }))
  await Promise.all(requests.map(({ other }) => other))
  const before = held.worked.filter(user => user === unauthenticated.user).length

  await Promise.all(requests.map(({ flood }) => flood))
  expect(before).toBeLessThan(20)
})

test('the body of a request that is refused as too much is arriving is not read', async () => {
  await using held = await startHeld()
  const open = async (sizeBytes: number) => {
    const wire = await Wire.open(held.edge.port)
    const headers = { Authorization: 'Bearer wyu_ann', 'Content-Type': 'application/json' }
    await wire.send(requestText('POST', '/api/things', { ...headers, 'Content-Length': String(sizeBytes) }, '{'))
    return wire
  }
  const mebibytes = (count: number) => count * 1024 * 1024
  for (let i = 0; i < 4; i++) await open(mebibytes(4))

  const refused = await open(mebibytes(4))
  expect((await refused.answer()).headers.connection).toBe('close')
  // More than the buffers of both ends hold.
  void refused.send('x'.repeat(mebibytes(32)))

  expect(await refused.closed()).toBe('closed')
})

test('a handler that makes requests for its caller takes other turns than these, and not all at once', () => {
  const calling = route('POST /api/tools', {
    summary: 'Call',
    auth: 'token',
    makesCalls: true,
    replies: { 200: z.object({}) },
    handle: () => reply(200, {}),
  })
  const turns = new Turns(10)
  const { queue } = turns.laneOf(calling, {})

  expect([1, 2, 3, 4, 5].map(() => queue.tryEnter(7))).toEqual([true, true, true, true, false])
  expect(queue.tryEnter(8)).toBe(true)
  for (const method of ['GET', 'POST'] as const)
    expect(turns.laneOf({ ...calling, method, makesCalls: false }, {}).queue.tryEnter(7)).toBe(true)
})

test('four long reads run at a time, however many connections there are, and lists that sort all they have are such', () => {
  const list = route('GET /api/things', {
    summary: 'List',
    auth: 'token or key',
    query: z.object({ order_by: z.string().optional(), skip: z.number().optional() }),
    isHeavy: query => (query as { order_by?: string }).order_by === 'size',
    replies: { 200: z.object({}) },
    handle: () => reply(200, {}),
  })
  const turns = new Turns(100)
  const [deep, sorted, first] = [{ skip: 100 }, { order_by: 'size' }, { order_by: 'id' }].map(query =>
    turns.laneOf(list, query),
  )

  const running = [1, 2, 3, 4, 5, 6].filter(user => deep!.queue.tryEnter(user))
  expect(running).toEqual([1, 2, 3, 4])
  expect(sorted).toBe(deep)
  expect(first).not.toBe(deep)
})
