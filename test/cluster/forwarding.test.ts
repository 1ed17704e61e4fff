import { expect, test } from 'vitest'
import { markRead } from '../../src/resources/apps/own/mark.ts'
import { openClusterNode, type ClusterNode } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { redisIsMissing, startRedis } from '../support/redis.ts'
import { openRooms, send, system } from '../support/rooms.ts'

if (redisIsMissing !== null) console.warn(`Sending commands to other nodes is not tested: ${redisIsMissing}.`)
const withRedis = test.skipIf(redisIsMissing !== null)

interface Cluster extends AsyncDisposable {
  sql: ClusterNode['sql']
  redis: Awaited<ReturnType<typeof startRedis>>
  room: number
  nodes: [ClusterNode, ClusterNode, ClusterNode]
}

/** Three nodes, of which the first was the last to write to the one room, as the others know. */
async function openCluster(): Promise<Cluster> {
  const redis = await startRedis()
  const database = await openRooms(1)
  const room = database.rooms[0]!
  const open = () => openClusterNode(database.url, redis.url)
  const nodes: Cluster['nodes'] = [await open(), await open(), await open()]
  const cluster = {
    sql: database.sql,
    redis,
    room,
    nodes,
    async [Symbol.asyncDispose]() {
      for (const part of [...nodes, database, redis]) await part[Symbol.asyncDispose]()
    },
  }
  const [first, ...others] = nodes
  for (const node of others) {
    let hasHeard = false
    void node.hearsOf(room).then(() => (hasHeard = true))
    await eventually(async () => {
      await send(first.apps, room, { text: 'before' })
      expect(hasHeard).toBe(true)
    })
  }
  await cluster.sql`truncate idempotency`
  return cluster
}

const textsIn = async ({ sql, room }: Cluster) => {
  const rows = await sql<{ text: string }[]>`
    select text from messages where app_id = ${room} and text <> 'before' order by id`
  return rows.map(({ text }) => text)
}

withRedis(
  'what is sent to one room through many nodes is committed by the one that wrote last, each once',
  async () => {
    await using cluster = await openCluster()
    const { room, nodes } = cluster
    const before = nodes.map(({ commits }) => commits.length)

    const texts = Array.from({ length: 90 }, (_, i) => `message ${i}`)
    const sent = await Promise.all(texts.map((text, i) => send(nodes[i % 3]!.apps, room, { text })))

    expect(sent.map(({ text }) => text)).toEqual(texts)
    expect((await textsIn(cluster)).toSorted()).toEqual(texts.toSorted())
    expect(nodes.map(({ forwarding }) => forwarding.forwarded)).toEqual([0, 30, 30])
    expect(nodes.map(({ commits }, i) => commits.length - before[i]!).slice(1)).toEqual([0, 0])
    expect(nodes.map(({ collisions }) => collisions())).toEqual([0, 0, 0])
    expect(sent[1]!.created_at).toBeInstanceOf(Date)
  },
)

withRedis('a refusal comes back as it is, from whichever node', async () => {
  await using cluster = await openCluster()
  const { room, nodes, sql } = cluster
  const [ann] = await sql<{ id: number }[]>`
    insert into users (uid, display_name, created_at) values ('ann', 'Ann', now()) returning id`
  const stranger = { kind: 'user', user: ann!.id, credential: 'ann' } as const

  await expect(send(nodes[1].apps, room, { by: stranger })).rejects.toMatchObject({ status: 404, code: 'not-found' })
  await expect(nodes[1].apps.run(markRead, room, system, null)).resolves.toBeUndefined()

  expect(nodes[1].forwarding.forwarded).toBe(2)
})

withRedis('what another node does too late is done here meanwhile, and not there again', async () => {
  await using cluster = await openCluster()
  const { room, nodes, sql } = cluster
  const started = performance.now()

  const sending = await sql.begin(async tx => {
    await tx`select from apps where id = ${room} for no key update`
    const sending = [send(nodes[1].apps, room, { text: 'once' }), send(nodes[2].apps, room, { text: 'and once' })]
    // The node that was asked waits for the lock, and then those that had asked it do.
    await eventually(async () => {
      const waiting = await sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      expect(waiting).toHaveLength(3)
    })
    return { done: Promise.all(sending) }
  })
  await sending.done

  expect(performance.now() - started).toBeGreaterThan(1_000)
  await nodes[0].apps.idle()
  expect((await textsIn(cluster)).toSorted()).toEqual(['and once', 'once'])
})

withRedis('what is sent to a node that died is done here at once', async () => {
  await using cluster = await openCluster()
  const { room, nodes } = cluster
  await nodes[0].bus.close()
  const started = performance.now()

  await send(nodes[1].apps, room, { text: 'first' })
  const waited = performance.now() - started
  await send(nodes[1].apps, room, { text: 'second' })

  expect(waited).toBeLessThan(900)
  expect(await textsIn(cluster)).toEqual(['first', 'second'])
  expect(nodes[1].forwarding.forwarded).toBe(1)
})

withRedis('what a node had received and not answered when it died is done here within a second', async () => {
  await using cluster = await openCluster()
  const { room, nodes, sql } = cluster
  const untilWaiting = (count: number) =>
    eventually(
      async () => {
        const waiting = await sql`
          select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
        expect(waiting).toHaveLength(count)
      },
      { timeoutMs: 900 },
    )

  const sending = await sql.begin(async tx => {
    await tx`select from apps where id = ${room} for no key update`
    const done = send(nodes[1].apps, room, { text: 'once' })
    await untilWaiting(1)
    await nodes[0].bus.close()
    await untilWaiting(2)
    return { done }
  })
  await sending.done

  await nodes[0].apps.idle()
  expect(await textsIn(cluster)).toEqual(['once'])
})

withRedis('without Redis in the middle of it, everything is committed once, at most two seconds later', async () => {
  await using cluster = await openCluster()
  const { room, nodes, redis } = cluster
  const texts = Array.from({ length: 60 }, (_, i) => `message ${i}`)

  const sending = texts.map((text, i) => send(nodes[i % 3]!.apps, room, { text }))
  await redis.kill()
  const started = performance.now()
  await Promise.all(sending)

  expect(performance.now() - started).toBeLessThan(2_000)
  expect((await textsIn(cluster)).toSorted()).toEqual(texts.toSorted())
  await redis.start()
})

withRedis('a node that stops answers first what others have asked of it, and takes nothing more', async () => {
  await using cluster = await openCluster()
  const { room, nodes } = cluster
  const asked = Array.from({ length: 20 }, (_, i) => send(nodes[1].apps, room, { text: `asked ${i}` }))
  await eventually(() => expect(nodes[0].apps.waiting).toBeGreaterThan(0), { everyMs: 1 })

  await nodes[0].forwarding.stop()
  const started = performance.now()
  await Promise.all(asked)
  await send(nodes[1].apps, room, { text: 'after' })

  expect(performance.now() - started).toBeLessThan(900)
  expect(await textsIn(cluster)).toHaveLength(21)
})

withRedis('a room that only the clients of another node write to is left to that node', async () => {
  await using cluster = await openCluster()
  const { room, nodes } = cluster
  const isForwarded = async () => {
    const before = nodes[1].forwarding.forwarded
    await send(nodes[1].apps, room, { text: 'hello' })
    return nodes[1].forwarding.forwarded > before
  }
  expect(await isForwarded()).toBe(true)

  await eventually(async () => expect(await isForwarded()).toBe(false), { timeoutMs: 10_000 })

  for (let i = 0; i < 10; i++) expect(await isForwarded()).toBe(false)
  expect(nodes.map(({ collisions }) => collisions())).toEqual([0, 0, 0])
})
