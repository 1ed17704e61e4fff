import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { Presence } from '../../src/presence/presence.ts'
import { gossipPresence } from '../../src/presence/presence-gossip.ts'
import { RedisBus } from '../../src/cluster/bus-redis.ts'
import { createLog } from '../../src/lib/log.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { client } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { joinHub } from '../support/hub.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { startPair } from '../support/pair.ts'
import { listen } from '../support/realtime.ts'
import { startRedis } from '../support/redis.ts'
import type { Server } from '../support/server.ts'

const presenceOf = async (server: Server, id: string) => (await server.admin.get(`/api/users/${id}`)).body.presence

test('with Redis, every node knows who is connected to another, or has asked it something', async () => {
  await using pair = await startPair({ hasRedis: true })
  const { here, there } = pair
  const [ann, ben, eve] = [await here.person('Ann'), await here.person('Ben'), await here.person('Eve')]
  const onThere = () => Promise.all([ann, ben, eve].map(({ id }) => presenceOf(there, id)))

  const session = await listen(here.url, { token: ann.token })
  await ben.get('/api/user')
  await eventually(async () => expect(await onThere()).toEqual(['active', 'active', 'away']))
  await session[Symbol.asyncDispose]()

  // Ben counts as active for five minutes, Ann until it is clear that she does not come back at once.
  await eventually(async () => expect(await onThere()).toEqual(['away', 'active', 'away']), { timeoutMs: 10_000 })
})

test('with Redis, lists of who is online have people of all nodes', async () => {
  await using pair = await startPair({ hasRedis: true })
  const { here, there } = pair
  const [ann, ben] = [await here.person('Ann'), await here.person('Ben')]
  await using hub = await joinHub(there.url, { token: () => ann.token })
  await hub.subscribe('online')
  expect(await hub.hear('online')).toEqual([Number(ann.id)])

  const session = await listen(here.url, { token: ben.token })
  await hub.hear('online', list => list.includes(Number(ben.id)))
  await session[Symbol.asyncDispose]()

  await eventually(() => expect(hub.told.at(-1)?.payload).toEqual([Number(ann.id)]), { timeoutMs: 10_000 })
})

test('with Redis, a thousand who come to one node at once are told of on another in a few lists', async () => {
  await using pair = await startPair({ hasRedis: true })
  const { here, there, sql } = pair
  const watcher = await here.person('Watcher')
  const tokens = await makeCrowd(sql, 1_000)
  await using hub = await joinHub(there.url, { token: () => watcher.token })
  await hub.subscribe('online')
  await hub.hear('online')

  const startedAtMs = performance.now()
  const listeners = await Promise.all(tokens.map(token => listen(here.url, { token })))
  await eventually(() => expect(hub.told.at(-1)?.payload).toHaveLength(1_001), { timeoutMs: 10_000 })
  const tookSeconds = (performance.now() - startedAtMs) / 1_000

  // One a second while they come.
  expect(hub.told.length).toBeLessThanOrEqual(tookSeconds + 1)
  await Promise.all(listeners.map(listener => listener[Symbol.asyncDispose]()))
}, 60_000)

test('the people of a node that has died are gone for the others after forty seconds', async () => {
  await using redis = await startRedis()
  const clock = new ManualClock()
  const nodes = await Promise.all([1, 2].map(() => startTalking(redis.url, clock)))
  const [dying, other] = [nodes[0]!, nodes[1]!]
  dying.presence.arrive(7)
  await eventually(() => {
    clock.advance(1_000)
    expect(other.presence.isActive(7)).toBe(true)
  })

  await dying.die()
  clock.advance(20_000)
  const early = other.presence.isActive(7)
  await eventually(() => {
    clock.advance(1_000)
    expect(other.presence.isActive(7)).toBe(false)
  })

  expect(early).toBe(true)
  await other.end()
})

test('the people of a node that stops have five seconds to come back on another', async () => {
  await using redis = await startRedis()
  const clock = new ManualClock()
  const nodes = await Promise.all([1, 2].map(() => startTalking(redis.url, clock)))
  const [leaving, other] = [nodes[0]!, nodes[1]!]
  for (const user of [7, 8]) leaving.presence.arrive(user)
  await eventually(() => {
    clock.advance(1_000)
    expect([7, 8].map(user => other.presence.isActive(user))).toEqual([true, true])
  })

  await leaving.end()
  other.presence.arrive(8)
  let waitedMs = 0
  await eventually(() => {
    clock.advance(200)
    waitedMs += 200
    expect(other.presence.isActive(7)).toBe(false)
  })

  expect(waitedMs).toBeGreaterThan(5_000)
  // It would count as dead then.
  expect(waitedMs).toBeLessThan(40_000)
  expect(other.presence.isActive(8)).toBe(true)
  await other.end()
})

test('whoever was connected to a node that is stopped is away for the others soon', async () => {
  await using pair = await startPair({ hasRedis: true })
  const { here, there } = pair
  const ann = await here.person('Ann')
  await using _ = await listen(here.url, { token: ann.token })
  await eventually(async () => expect(await presenceOf(there, ann.id)).toBe('active'))

  await here[Symbol.asyncDispose]()

  await eventually(async () => expect(await presenceOf(there, ann.id)).toBe('away'), { timeoutMs: 15_000 })
})

test('without Redis, a node knows of those who came to it', async () => {
  await using pair = await startPair({ hasRedis: false })
  const { here, there } = pair
  const ann = await here.person('Ann')
  await using _ = await listen(here.url, { token: ann.token })
  const on = (server: Server) => presenceOf(server, ann.id)

  const before = [await on(here), await on(there)]
  await client(there.url, ann.token).get('/api/user')

  expect(before).toEqual(['active', 'away'])
  expect([await on(here), await on(there)]).toEqual(['active', 'active'])
})

/** What a node has for presence, with a clock that is moved by hand. */
async function startTalking(url: string, clock: ManualClock) {
  const bus = await RedisBus.connect({
    url,
    isCluster: false,
    deployment: 'test',
    version: '1',
    log: createLog('error'),
  })
  const presence = new Presence({ seen: new Map(), clock })
  const living = new AbortController()
  gossipPresence({ bus, presence, clock, signal: living.signal })
  return {
    presence,
    /** Stops as it should. */
    async end() {
      living.abort()
      await bus.close()
    },
    /** Says nothing more. */
    die: () => bus.close(),
  }
}

/** People with tokens, made at once: through the API that would take longer than the test itself. */
async function makeCrowd(sql: Sql, count: number): Promise<string[]> {
  const tokens = Array.from({ length: count }, () => randomBytes(32).toString('base64url'))
  const hashes = tokens.map(token => createHash('sha256').update(token).digest('hex'))
  await sql`
    with people as (
      insert into users (display_name, name, created_at)
      select 'Crowd', 'Crowd', now() from generate_series(1, ${count}::int) returning id
    ), numbered as (select id, row_number() over () as number from people)
    insert into tokens (hash, user_id, created_at, expires_at)
    select decode(h.hash, 'hex'), n.id, now(), now() + interval '1 hour'
    from unnest(${hashes}::text[]) with ordinality as h (hash, number) join numbered n using (number)`
  return tokens
}
