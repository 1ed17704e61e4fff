import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { LocalBus } from '../../src/cluster/bus-local.ts'
import { createLog } from '../../src/lib/log.ts'
import { announceArrival, leaseMs, ReadLease, revokeOnArrival } from '../../src/engine/nodes/read-lease.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { client, type Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { redisIsMissing, startRedis } from '../support/redis.ts'
import { startServer } from '../support/server.ts'

if (redisIsMissing !== null) console.warn(`Reads of a node that is alone are not tested: ${redisIsMissing}.`)
const withRedis = test.skipIf(redisIsMissing !== null)

test('a lease lasts from when its query was sent, and one that was revoked needs a later query', () => {
  const clock = { nowMs: 0 }
  const lease = new ReadLease(() => clock.nowMs)
  expect(lease.isHeld).toBe(false)

  clock.nowMs = 100
  lease.renew(50)
  clock.nowMs = 50 + leaseMs - 1
  expect(lease.isHeld).toBe(true)
  clock.nowMs = 50 + leaseMs
  expect(lease.isHeld).toBe(false)

  lease.renew(clock.nowMs)
  const sentBefore = clock.nowMs
  clock.nowMs += 5
  lease.revoke()
  lease.renew(sentBefore)
  expect(lease.isHeld).toBe(false)
  lease.renew(clock.nowMs + 1)
  expect(lease.isHeld).toBe(true)
})

test('a node that starts goes on when every other has given up its lease, or none can have one any more', async () => {
  const bus = new LocalBus(createLog('error'))
  const clock = new ManualClock()
  const lease = new ReadLease(() => clock.now())
  lease.renew(clock.now())
  revokeOnArrival(lease, bus, 'first')

  await announceArrival(['first'], bus, 'second', clock)
  expect(lease.isHeld).toBe(false)

  let isOver = false
  const arrival = announceArrival(['first', 'killed'], bus, 'third', clock).then(() => (isOver = true))
  clock.advance(leaseMs)
  await nextTurn()
  expect(isOver).toBe(false)
  clock.advance(leaseMs)
  await arrival
})

/** Whether a page of messages is answered while nothing can read the table of apps, or waits for it. */
async function readsFromMemory(sql: Sql, caller: Client, path: string): Promise<boolean> {
  let isAnswered = false
  return sql.begin(async tx => {
    await tx`lock table apps in access exclusive mode`
    void caller.get(path).then(() => (isAnswered = true))
    return eventually(async () => {
      const [row] = await tx<{ waiting: number }[]>`
        select count(*)::int as waiting from pg_locks where relation = 'apps'::regclass and not granted`
      expect(isAnswered || row!.waiting > 0).toBe(true)
      return isAnswered
    })
  })
}

withRedis('a node that is alone reads from memory without asking, until another one starts', async () => {
  await using database = await createDatabase()
  await using redis = await startRedis()
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url }
  await using here = await startServer(settings)
  const ann = await here.person()
  const { body: app } = await ann.post('/api/apps', { type: 'chat_room', name: 'hall' })
  const path = `/api/apps/${app.id}/messages?order_by=id+desc`
  await ann.post(`/api/apps/${app.id}/messages`, { text: 'hello' })
  const reads = () => readsFromMemory(database.sql, ann, path)

  for (const text of ['once', 'again']) {
    await eventually(async () => expect(await reads()).toBe(true))
    await using there = await startServer(settings)
    await client(there.url, ann.token).post(`/api/apps/${app.id}/messages`, { text })
    const { body: page } = await ann.get(path)
    expect(page.data[0].text).toBe(text)
    expect(await reads()).toBe(false)
  }
})
