import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { RedisBus } from '../../src/cluster/bus-redis.ts'
import { StartFault } from '../../src/lib/errors.ts'
import { createLog } from '../../src/lib/log.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultProxy } from '../../src/client/testing/proxy.ts'
import { redisIsMissing, startRedis } from '../support/redis.ts'
import { startServer } from '../support/server.ts'

if (redisIsMissing !== null) console.warn(`The tests of the Redis bus are skipped: ${redisIsMissing}.`)
const withRedis = test.skipIf(redisIsMissing !== null)

const connect = (url: string, deployment = 'one', version = '1') =>
  RedisBus.connect({ url, isCluster: false, deployment, version, log: createLog('error') })

/** Reads whatever arrives. */
const anything = (received: unknown) => received

async function call(url: string, command: string, ...args: string[]): Promise<unknown> {
  const probe = new Redis(url)
  try {
    return await probe.call(command, ...args)
  } finally {
    probe.disconnect()
  }
}

/** A server that says of itself what Redis 6 says. */
async function startOldRedis() {
  const about = 'redis_version:6.2.14\r\nloading:0\r\n'
  const server = createServer(socket => {
    // Each command that a client sends is an array, and names itself in the clear.
    socket.on('data', bytes => {
      const commands = bytes
        .toString()
        .split(/^\*\d+\r\n/m)
        .slice(1)
      for (const text of commands) socket.write(/^\$4\r\ninfo\r\n/i.test(text) ? bulk(about) : '+OK\r\n')
    })
    socket.on('error', () => socket.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`

/** The channels that anybody listens to. */
const listenedTo = (url: string) => call(url, 'pubsub', 'shardchannels')

withRedis('what one node says on a channel, the others hear in order, until they stop listening', async () => {
  await using redis = await startRedis()
  const [ann, ben] = [await connect(redis.url), await connect(redis.url)]
  const stranger = await connect(redis.url, 'other')
  const newer = await connect(redis.url, 'one', '2')
  const heard: unknown[] = []
  const end = ben.subscribe('one', anything, message => heard.push(message))
  await eventually(() => {
    ann.publish('one', { hello: true })
    expect(heard).not.toEqual([])
  })
  heard.length = 0

  for (let i = 0; i < 100; i++) ann.publish('one', { i })
  ann.publish('two', { i: 'elsewhere' })
  stranger.publish('one', { i: 'of another database' })
  newer.publish('one', { i: 'of another version' })
  await eventually(() => expect(heard.filter(message => 'i' in (message as object))).toHaveLength(100))

  expect(heard.filter(message => 'i' in (message as object))).toEqual(Array.from({ length: 100 }, (_, i) => ({ i })))
  end()
  await eventually(async () => expect(await listenedTo(redis.url)).toEqual([]))
  await Promise.all([ann.close(), ben.close(), stranger.close(), newer.close()])
})

withRedis('what a node says last is heard, though it ends at once', async () => {
  await using redis = await startRedis()
  const [ann, ben] = [await connect(redis.url), await connect(redis.url)]
  const heard: unknown[] = []
  ben.subscribe('one', anything, message => heard.push(message))
  await eventually(async () => expect(await listenedTo(redis.url)).toHaveLength(1))

  ann.publish('one', { last: true })
  await ann.close()

  await eventually(() => expect(heard).toEqual([{ last: true }]))
  await ben.close()
  // Only who asks.
  await eventually(async () => expect(await call(redis.url, 'info', 'clients')).toContain('connected_clients:1\r'))
})

withRedis('a node that ends does not wait for a Redis that hangs', async () => {
  await using redis = await startRedis()
  await using network = await createFaultProxy(redis.url)
  const bus = await connect(network.url.replace('http', 'redis'))

  network.silence()
  bus.publish('one', { last: true })

  await bus.close()
})

withRedis('a bus survives the end of Redis, and carries on when it is back', async () => {
  await using redis = await startRedis()
  const [ann, ben] = [await connect(redis.url), await connect(redis.url)]
  const heard: unknown[] = []
  const end = ben.subscribe('two', anything, () => {})
  ben.subscribe('one', anything, message => heard.push(message))
  end()

  await redis.kill()
  ann.publish('one', { lost: true })
  await redis.start()

  await eventually(
    () => {
      ann.publish('one', { found: true })
      expect(heard).toContainEqual({ found: true })
    },
    { timeoutMs: 10_000 },
  )
  expect(heard).not.toContainEqual({ lost: true })
  expect(await listenedTo(redis.url)).toEqual([expect.stringMatching(/:one$/)])
  await Promise.all([ann.close(), ben.close()])
})

withRedis('a node starts while Redis is away, and uses it as soon as it is there', async () => {
  await using redis = await startRedis()
  await using database = await createDatabase()
  await redis.kill()
  await using server = await startServer({ DATABASE_URL: database.url, REDIS_URL: redis.url })
  const { app, people } = await server.chatWith(1)
  expect((await people[0].post(`/api/apps/${app}/messages`, { text: 'without' })).status).toBe(201)

  await redis.start()

  await eventually(async () => expect(await listenedTo(redis.url)).not.toEqual([]), { timeoutMs: 10_000 })
})

withRedis('a bus that was made while Redis was away carries what is said when it is there', async () => {
  await using redis = await startRedis()
  await redis.kill()
  const [ann, ben] = [await connect(redis.url), await connect(redis.url)]
  const heard: unknown[] = []
  ben.subscribe('one', anything, message => heard.push(message))

  await redis.start()

  await eventually(
    () => {
      ann.publish('one', { hello: true })
      expect(heard).toContainEqual({ hello: true })
    },
    { timeoutMs: 10_000 },
  )
  await Promise.all([ann.close(), ben.close()])
})

withRedis('a node that Redis does not let in says why it does not start, and names no password', async () => {
  await using redis = await startRedis()
  await call(redis.url, 'config', 'set', 'requirepass', 'the-right-one')

  const failure = await connect(redis.url.replace('//', '//:hidden@')).catch((error: Error) => error)

  expect(failure).toBeInstanceOf(StartFault)
  expect(failure).toMatchObject({ message: expect.stringMatching(/WRONGPASS.*Correct REDIS_URL/) })
  expect((failure as Error).message).not.toContain('hidden')
})

test('a node whose Redis is too old says so', async () => {
  await using old = await startOldRedis()

  const failure = await connect(old.url).catch((error: Error) => error)

  expect(failure).toMatchObject({ message: 'Redis 6 is too old: Parley needs Redis 7 or newer, or Valkey.' })
})

withRedis('with Redis, news of one node is on the other long before its next look', async () => {
  await using redis = await startRedis()
  await using database = await createDatabase()
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url }
  await using one = await startServer(settings)
  await using other = await startServer(settings)
  const { app, people } = await one.chatWith(1)
  const path = `/api/apps/${app}/messages?count_only=true`
  const countOn = async (server: typeof one) =>
    Number((await server.request('GET', path, { token: people[0].token })).body.count)
  expect(await countOn(other)).toBe(0)
  // The other node has the app in memory from here on; give its subscription a moment's head start.
  await delay(50)

  const waits: number[] = []
  for (let i = 1; i <= 10; i++) {
    await people[0].post(`/api/apps/${app}/messages`, { text: `message ${i}` })
    const sentAt = performance.now()
    await eventually(async () => expect(await countOn(other)).toBe(i), { everyMs: 2 })
    waits.push(performance.now() - sentAt)
  }

  expect(waits.toSorted((a, b) => a - b)[5]).toBeLessThan(300)
})

withRedis('without Redis in the middle of it, everything still arrives, at most two seconds later', async () => {
  await using redis = await startRedis()
  await using database = await createDatabase()
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url }
  await using one = await startServer(settings)
  await using other = await startServer(settings)
  const { app, people } = await one.chatWith(1)
  const path = `/api/apps/${app}/messages?count_only=true`
  await other.request('GET', path, { token: people[0].token })

  await redis.kill()
  const { status } = await people[0].post(`/api/apps/${app}/messages`, { text: 'still here' })

  expect(status).toBe(201)
  await eventually(
    async () => {
      const { body } = await other.request('GET', path, { token: people[0].token })
      expect(body.count).toBe('1')
    },
    { timeoutMs: 2_500 },
  )
})
