import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer, type Person } from '../support/server.ts'

/** A server whose searches take a minute each. */
async function startSlow() {
  const database = await createDatabase()
  const server = await startServer({ DATABASE_URL: database.url })
  await database.sql.unsafe(`
    create or replace function search_query(apps bigint[], q text, tags text[]) returns tsquery language plpgsql as $$
    begin
      perform pg_sleep(60);
      return null;
    end $$`)
  const client = new AbortController()
  return {
    server,
    client,
    search: (person: Person, app: string, word: string) =>
      fetch(`${server.url}/api/apps/${app}/messages?q=${word}`, {
        headers: { authorization: `Bearer ${person.token}` },
        signal: client.signal,
      }).catch(() => {}),
    /** The number of searches that PostgreSQL runs. */
    async running() {
      const rows = await database.sql`
        select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
      return rows.length
    },
    async [Symbol.asyncDispose]() {
      client.abort()
      await server[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

test('a search ends in PostgreSQL when its client goes away, and those that wait never begin', async () => {
  await using slow = await startSlow()
  const { app, people } = await slow.server.chatWith(1)
  await people[0].post(`/api/apps/${app}/messages`, { text: 'one' })
  const searches = ['one', 'two', 'three'].map(word => slow.search(people[0], app, word))
  await eventually(async () => expect(await slow.running()).toBe(1))

  slow.client.abort()
  await Promise.all(searches)

  await eventually(async () => expect(await slow.running()).toBe(0))
  expect((await people[0].get('/api/apps')).status).toBe(200)
  expect(await slow.running()).toBe(0)
})

test('while one user searches, all else goes on, and one search of another user', async () => {
  await using slow = await startSlow()
  const { server } = slow
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await ann.post(`/api/apps/${app}/messages`, { text: 'one' })
  for (let i = 0; i < 40; i++) void slow.search(ann, app, `${'x'.repeat(101)}${i}`)
  await eventually(async () => expect(await slow.running()).toBe(1))

  const answers = [
    await ben.get('/api/apps'),
    await ben.get('/api/notifications'),
    await ben.get(`/api/apps/${app}/messages`),
    await ben.post(`/api/apps/${app}/messages`, { text: 'hello' }),
    await server.admin.post(`/api/users/${ben.id}/tokens`),
    await ann.get('/api/apps'),
  ]
  void slow.search(ben, app, 'word')

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 201, 200, 200])
  await eventually(async () => expect(await slow.running()).toBe(2))
})

test('a message is committed before most of those that another user has sent at once', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const flood = Array.from({ length: 400 }, (_, i) =>
    ann.post(`/api/apps/${app}/messages`, { text: `https://a.example/${i} `.repeat(200) }),
  )
  await Promise.race(flood)

  const { body: own } = await ben.post(`/api/apps/${app}/messages`, { text: 'hello' })
  const sent = await Promise.all(flood)

  const before = sent.filter(({ body }) => Number(body.id) < Number(own.id))
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([201]))
  expect(before.length).toBeLessThan(200)
})

test('a user who sends without end is told to come again later, and others are not', async () => {
  await using server = await startServer({ RATE_LIMIT_PER_MINUTE: '60' })
  const [ann, ben] = [await server.person(), await server.person()]

  const answers = await Promise.all(Array.from({ length: 90 }, () => ann.get('/api/user')))
  const refused = answers.filter(({ status }) => status === 429)

  expect(refused.length).toBeGreaterThan(20)
  expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(refused[0]!.headers.get('ratelimit-policy')).toBe('"default";q=60;w=60')
  expect((await ben.get('/api/user')).headers.get('ratelimit')).toBe('"default";r=59;t=1')
})

function formOf(bytes: number): FormData {
  const form = new FormData()
  form.append('blob', new Blob([new Uint8Array(bytes)]), 'a.bin')
  return form
}

const mebibyte = 1024 * 1024

test('a user has a quota for uploads, and an API key has none', async () => {
  await using server = await startServer({ STORAGE_QUOTA_MB: '2' })
  const [ann, ben] = [await server.person(), await server.person()]

  const first = await ann.post('/api/blobs', formOf(1.5 * mebibyte))
  const tooMuch = await ann.post('/api/blobs', formOf(mebibyte))
  const rest = await ann.post('/api/blobs', formOf(0.5 * mebibyte))
  const nothing = await ann.post('/api/blobs', formOf(1))

  expect([first, tooMuch, rest, nothing].map(({ status }) => status)).toEqual([201, 403, 201, 403])
  expect(tooMuch.body).toMatchObject({ code: 'storage-quota-exceeded' })
  expect((await ben.post('/api/blobs', formOf(mebibyte))).status).toBe(201)
  expect((await server.admin.post('/api/blobs', formOf(3 * mebibyte))).status).toBe(201)
})

test('uploads are refused while the disk has less room than its floor; all else goes on', async () => {
  await using server = await startServer({ DISK_FLOOR_MB: '1000000000' })
  const { app, people } = await server.chatWith(1)

  const refused = await people[0].post('/api/blobs', formOf(1))

  expect([refused.status, refused.body.code]).toEqual([507, 'storage-full'])
  expect((await people[0].post(`/api/apps/${app}/messages`, { text: 'hello' })).status).toBe(201)
})
