import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { describeSettings, readConfig } from '../../src/config/config.ts'
import { productVersion } from '../../src/config/product-version.ts'
import { figureNames, type NodeFigureName } from '../../src/monitoring/figures.ts'
import { DurationWindow } from '../../src/http/about/durations.ts'
import { Monitor } from '../../src/monitoring/monitor.ts'
import type { Body } from '../support/client.ts'
import { create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { joinHub } from '../support/hub.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { startPair } from '../support/pair.ts'
import { listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

test('each node knows of the others, without Redis', async () => {
  await using pair = await startPair({ hasRedis: false })

  const { status, body: both } = await pair.here.admin.get('/api/admin/nodes')

  expect(status).toBe(200)
  expect(both.map(({ is_current }: Body) => is_current).sort()).toEqual([false, true])
  expect(both[0]).toMatchObject({ version: productVersion, host: expect.any(String), sessions: '0', waiting: '0' })
  expect(Number(both[0].rss)).toBeGreaterThan(10_000_000)
  expect((await (await pair.here.person()).get('/api/admin/nodes')).status).toBe(403)
})

test('a node that has stopped, or was not heard of for half a minute, is none any more', async () => {
  await using pair = await startPair({ hasRedis: false })
  const count = async () => (await pair.here.admin.get('/api/admin/nodes')).body.length
  expect(await count()).toBe(2)

  await pair.sql`update nodes set seen_at = now() - interval '31 seconds'`

  expect(await count()).toBe(1)
})

test('a sample is how much a counter grew in a minute, and what a gauge was at its end', async () => {
  await using database = await createDatabase()
  const clock = new ManualClock()
  const known = figureNames.filter(name => name !== 'database_bytes')
  const now = Object.fromEntries(known.map(name => [name, 0])) as Record<NodeFigureName, number>
  const beat = async () => ({ sessions: 0, waiting: 0, rss: 0 })
  const monitor = new Monitor({
    id: randomUUID(),
    sql: database.sql,
    version: '1.0.0',
    read: () => ({ ...now }),
    beat,
    clock,
  })

  Object.assign(now, { commits: 100, sessions: 7, request_p50_ms: Number.NaN })
  await monitor.sample()
  Object.assign(now, { commits: 130, sessions: 5, request_p50_ms: 2.5 })
  clock.advance(60_000)
  await monitor.sample()
  Object.assign(now, { commits: 131, sessions: 4, request_p50_ms: Number.NaN })
  await monitor.sample()

  const rows = await database.sql<{ name: string; value: number }[]>`
    select name, value from samples where name in ('commits', 'sessions', 'request_p50_ms') order by name, minute`
  expect(rows.map(({ name, value }) => [name, value])).toEqual([
    ['commits', 100],
    ['commits', 31],
    ['request_p50_ms', 2.5],
    ['sessions', 7],
    ['sessions', 4],
  ])
})

test('the samples of a node tell what it did, how long that took, and what it takes up, to its last moment', async () => {
  await using database = await createDatabase()
  const server = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await server.chatWith(2)
  const native = await listen(server.url, { token: people[0].token })
  const hub = await joinHub(server.url, { token: () => people[1].token })
  await create(people[0], `/api/apps/${app}/messages`, { text: 'hello' })
  await server.request('GET', '/api/apps')

  await server[Symbol.asyncDispose]()
  await Promise.all([native, hub].map(client => client[Symbol.asyncDispose]()))

  const rows = await database.sql<{ name: string; value: number }[]>`select name, value from samples`
  const figure = Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  // What is not known is not stored: there is no Redis, and nothing had to wait.
  expect(figureNames.filter(name => !(name in figure) && name !== 'pool_wait_p99_ms')).toEqual(['bus_down'])
  expect(figure).toMatchObject({
    sessions: 2,
    sessions_native: 1,
    sessions_hub: 1,
    users_connected: 2,
    requests_5xx: 0,
  })
  expect(figure.commands).toBeGreaterThan(0)
  expect(figure.requests_4xx).toBeGreaterThan(0)
  expect(figure.commit_p99_ms).toBeGreaterThanOrEqual(figure.commit_p50_ms!)
  expect(figure.database_bytes).toBeGreaterThan(1_000_000)
  expect(figure.loop_busy_percent).toBeGreaterThan(0)
})

test('of durations, a sample tells between which bounds the median and the 99th percentile were since the last', () => {
  const window = new DurationWindow([0.001, 0.01, 0.1])
  for (let i = 0; i < 98; i++) window.observe(0.0005)
  window.observe(0.05)
  window.observe(7)

  expect(window.sample()).toEqual({ p50Ms: 1, p99Ms: 100 })
  expect(window.sample()).toEqual({ p50Ms: Number.NaN, p99Ms: Number.NaN })
  expect(window.total).toBe(100)
})

test('a series adds up what is counted, over nodes and minutes, and takes the worst of what is none the better for it', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const [one, other] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']
  for (const [name, values] of Object.entries({ commits: [1, 2, 4], sessions: [10, 20, 30], lag_ms: [5, 9, 1] })) {
    await database.sql`
      insert into samples (name, minute, node, value) values
        (${name}, '2026-01-01T10:00:00Z', ${one}, ${values[0]!}),
        (${name}, '2026-01-01T10:00:00Z', ${other}, ${values[1]!}),
        (${name}, '2026-01-01T10:01:00Z', ${one}, ${values[2]!})`
  }
  const points = async (query: string) => {
    const span = 'from=2026-01-01T09:00:00Z&to=2026-01-01T11:00:00Z'
    return (await server.admin.get(`/api/admin/series?${span}&${query}`, { prefer: 'scalars=number' })).body.points
  }

  expect(await points('name=commits')).toEqual([
    ['2026-01-01T10:00:00Z', 3],
    ['2026-01-01T10:01:00Z', 4],
  ])
  expect(await points('name=commits&step=3600')).toEqual([['2026-01-01T10:00:00Z', 7]])
  expect(await points('name=sessions&step=3600')).toEqual([['2026-01-01T10:00:00Z', 30]])
  expect(await points('name=lag_ms&step=3600')).toEqual([['2026-01-01T10:00:00Z', 9]])
  expect(await points(`name=commits&node=${other}`)).toEqual([['2026-01-01T10:00:00Z', 2]])
  expect(await points('name=apps')).toBeUndefined()
  expect((await server.admin.get('/api/admin/series?name=secrets')).status).toBe(422)
  const years = 'name=apps&from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z'
  expect((await server.admin.get(`/api/admin/series?${years}`)).body.errors).toEqual({ step: [expect.any(String)] })
})

test('settings are shown with where they come from, and no secret among them', async () => {
  await using server = await startServer({ TRASH_DAYS: '30', METRICS_TOKEN: 'a-token-for-metrics' })

  const { body } = await server.admin.get('/api/admin/settings')

  const find = (name: string) => body.find((setting: Body) => setting.name === name)
  expect(find('TRASH_DAYS')).toMatchObject({ value: '30', default: '0', source: 'env' })
  expect(find('API_KEY')).toMatchObject({ value: '[set]', source: 'env' })
  expect(find('EVENT_DAYS')).toMatchObject({ value: '7', source: 'default' })
  expect(find('REDIS_URL').value).toBeUndefined()
  for (const secret of [server.key, 'a-token-for-metrics', 'postgres://']) {
    expect(JSON.stringify(body)).not.toContain(secret)
  }
})

test('a setting of the file .env is told from one of the environment', () => {
  const file = { PORT: '1', HOST: 'a', SECRET_KEYS: Buffer.alloc(32).toString('base64') }

  const shown = describeSettings(readConfig({ ...file, HOST: 'b' }, file))

  const find = (name: string) => shown.find(setting => setting.name === name)
  expect(find('PORT')).toMatchObject({ value: '1', source: '.env' })
  expect(find('HOST')).toMatchObject({ value: 'b', source: 'env' })
  expect(find('SECRET_KEYS')).toMatchObject({ value: '[set]', source: '.env' })
})

test('a node says how much room is left on its disk', async () => {
  await using server = await startServer()

  const { body } = await server.admin.get('/api/admin/nodes')

  const { size, free } = body[0].disk
  expect(Number(size)).toBeGreaterThan(Number(free))
  expect(Number(free)).toBeGreaterThan(0)
})

test('what a node does again and again is listed with its last turn', async () => {
  await using server = await startServer()

  const job = await eventually(async () => {
    const { body } = await server.admin.get('/api/admin/jobs')
    const found = body.find(({ name }: Body) => name === 'look for what other nodes committed')
    expect(found).toBeDefined()
    return found
  })

  expect(job).toMatchObject({ period: '1', last_run_at: expect.any(String), duration: expect.any(String) })
  expect(Number(job.runs)).toBeGreaterThan(0)
  expect(job.error).toBeUndefined()
})

test('what files take up is known by app', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const { body: app } = await server.admin.post('/api/apps', { type: 'files', uid: 'docs', members: [ann.id] })
  const { body: blob } = await upload(ann, { name: 'a.txt', content: 'twelve bytes' })
  expect((await ann.post(`/api/apps/${app.id}/files`, { blob_id: blob.id })).status).toBe(201)

  const { body } = await server.admin.get('/api/admin/storage')

  expect(body).toMatchObject({ files: '1', bytes: '12', apps: [{ app: { id: app.id, uid: 'docs' }, bytes: '12' }] })
})
