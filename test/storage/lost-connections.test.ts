import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/server.ts'

/** Longer than it takes to connect anew on a busy machine, shorter than any deadline for a PostgreSQL that is silent. */
const recoveryMs = 2_000

test('requests whose connections PostgreSQL ends are answered with 503, and those after them as ever', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url, DATABASE_CONNECTIONS: '5' })
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const path = `/api/apps/${app}/messages`
  const asks = [
    () => ann.post(path, { text: 'hi' }),
    () => ben.put(`/api/apps/${app}/mark`),
    () => ann.get('/api/messages'),
    () => ben.get('/api/apps?type=chat&type=posts'),
    () => server.admin.get('/api/users?tag=a&tag=b'),
    () => server.admin.patch(`/api/users/${ben.id}`, { tags: ['a', 'b'] }),
  ]
  const statuses = new Map<number, number>()
  const sent: string[] = []
  let slowestMs = 0
  const ending = new AbortController()

  const asking = asks.map(async ask => {
    while (!ending.signal.aborted) {
      const startedAt = performance.now()
      const { status, body } = await ask()
      slowestMs = Math.max(slowestMs, performance.now() - startedAt)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 201 && body.app_id === app) sent.push(body.id)
    }
  })
  const answered = () => [...statuses.values()].reduce((sum, count) => sum + count, 0)
  for (let kills = 0; kills < 60; kills++) {
    const before = answered()
    await eventually(() => expect(answered()).toBeGreaterThan(before + (kills % 8)), { everyMs: 1, timeoutMs: 10_000 })
    await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
  }
  ending.abort()
  await Promise.all(asking)

  expect([...statuses.keys()].toSorted()).toEqual([200, 201, 204, 503])
  expect(slowestMs).toBeLessThan(recoveryMs)
  await eventually(async () => expect((await ann.post(path, { text: 'again' })).status).toBe(201), {
    timeoutMs: recoveryMs,
  })
  const stored = await database.sql<{ id: string }[]>`select id::text from messages`
  expect(stored.map(({ id }) => id)).toEqual(expect.arrayContaining(sent))
})
