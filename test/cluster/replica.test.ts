import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startReplicated } from '../support/replicated.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

/** A node with a replica, and a room of two hundred messages in it. */
async function startWithReplica() {
  const postgres = await startReplicated()
  const server = await startServer({ DATABASE_URL: postgres.primary.url, DATABASE_REPLICA_URL: postgres.standby.url })
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  for (let i = 0; i < 200; i++) await ann.post(`/api/apps/${app}/messages`, { text: `walnut ${i}` })
  return {
    postgres,
    server,
    ann,
    deep: `/api/apps/${app}/messages?skip=150&take=5`,
    search: (word: string) => `/api/apps/${app}/messages?q=${word}`,
    send: (text: string) => ann.post(`/api/apps/${app}/messages`, { text }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await postgres[Symbol.asyncDispose]()
    },
  }
}

/** How many reads the replica has answered. */
async function replicaReads(server: Server): Promise<number> {
  const { body } = await server.admin.get('/metrics')
  return Number(/^parley_replica_reads(?:_total)? (\d+)/m.exec(String(body))?.[1])
}

async function countOf(by: Person, path: string): Promise<number> {
  const { status, body } = await by.get(path)
  expect(status).toBe(200)
  return Number(body.count)
}

test('deep pages and searches are read from the replica, and the newest page is not', async () => {
  await using world = await startWithReplica()
  const { server, ann, deep, search } = world
  const before = await replicaReads(server)

  await ann.get(deep.replace('skip=150', 'skip=0'))
  expect(await replicaReads(server)).toBe(before)

  await eventually(async () => {
    expect((await ann.get(deep)).body.data).toHaveLength(5)
    expect(await countOf(ann, search('walnut'))).toBe(200)
    expect(await replicaReads(server)).toBeGreaterThan(before + 1)
  })
})

test('a reader sees what they wrote, however far the replica is behind', async () => {
  await using world = await startWithReplica()
  const { postgres, server, ann, search, send } = world
  await postgres.standby.sql`select pg_wal_replay_pause()`
  await send('hazelnut')
  const before = await replicaReads(server)

  expect(await countOf(ann, search('hazelnut'))).toBe(1)
  expect(await replicaReads(server)).toBe(before)

  await postgres.standby.sql`select pg_wal_replay_resume()`
  await eventually(async () => {
    expect(await countOf(ann, search('hazelnut'))).toBe(1)
    expect(await replicaReads(server)).toBeGreaterThan(before)
  })
})

test('while the replica is gone, or was promoted, the primary is read', async () => {
  await using world = await startWithReplica()
  const { postgres, server, ann, deep, search, send } = world
  await postgres.standby.sql`select pg_promote()`
  await send('hazelnut')
  const before = await replicaReads(server)
  expect(await countOf(ann, search('hazelnut'))).toBe(1)

  await postgres.standby.crash()

  expect((await ann.get(deep)).body.data).toHaveLength(5)
  expect(await countOf(ann, search('hazelnut'))).toBe(1)
  expect(await replicaReads(server)).toBe(before)
})
