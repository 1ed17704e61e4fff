import fc from 'fast-check'
import { Redis } from 'ioredis'
import { Packr } from 'msgpackr'
import { expect, test } from 'vitest'
import { Listeners, packMessage } from '../../src/cluster/message.ts'
import { createLog } from '../../src/lib/log.ts'
import { client } from '../support/client.ts'
import { create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { listen } from '../support/realtime.ts'
import { redisIsMissing, startRedis } from '../support/redis.ts'
import { startServer } from '../support/server.ts'

const packr = new Packr({ useRecords: false })

/** The members that messages of all channels have. */
const members = [
  ...['node', 'from', 'ticket', 'to', 'events', 'user', 'moved', 'forOthers', 'waiting', 'apps', 'isNew', 'rev'],
  ...['requests', 'answers', 'isWhole', 'isLast', 'came', 'went', 'filter', 'limit', 'sessions', 'count', 'frame'],
  ...['review', 'app', '__proto__', 'constructor', 'toString'],
]

const number = fc.constantFrom(0, -1, 1.5, Number.NaN, Infinity, 2 ** 53, 1e300)
const scalar = fc.oneof(number, fc.constantFrom(null, true, '', 'x', new Date(Number.NaN), Buffer.from('x')))
const event = fc.tuple(
  fc.constantFrom('message_created', 'member_added', 'vote_added', 'unheard_of', 7),
  scalar,
  scalar,
  scalar,
  scalar,
  fc.oneof(scalar, fc.constant({})),
  fc.oneof(scalar, fc.constant(new Date(0))),
  fc.oneof(scalar, fc.constant({ id: 1 }), fc.constant({ id: {} })),
)
const request = fc.tuple(
  scalar,
  fc.constantFrom('create_message', 'markRead', 7),
  scalar,
  fc.anything(),
  scalar,
  scalar,
)
const value = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 5 }),
  fc.array(event, { maxLength: 3 }),
  fc.array(request, { maxLength: 2 }),
  fc.anything(),
)
const message = fc.oneof(
  scalar,
  fc.anything(),
  fc.dictionary(fc.constantFrom(...members), value, { noNullPrototype: true }),
  fc.record({ node: fc.constant('another'), events: fc.array(event, { minLength: 1, maxLength: 3 }) }),
  fc.record({ from: fc.constant('another'), requests: fc.array(request), answers: fc.array(fc.array(scalar)) }),
)

const pack = (thing: unknown): Buffer => {
  try {
    return packr.pack(thing)
  } catch {
    return Buffer.from('not to be packed')
  }
}

/** Bytes that no node sends: arbitrary ones, messages that make no sense, and such as end too early. */
const garbage = fc.oneof(
  fc.uint8Array({ maxLength: 100 }).map(bytes => Buffer.from(bytes)),
  message.map(pack),
  fc.tuple(message, fc.double({ min: 0, max: 1, noNaN: true })).map(([thing, part]) => {
    const bytes = pack(thing)
    return bytes.subarray(0, Math.floor(bytes.length * part))
  }),
  // Arrays, maps and texts that claim to have four billion members, and nesting without end.
  fc.constantFrom(0xdd, 0xdf, 0xdb, 0xc6).map(head => Buffer.from([head, 0xff, 0xff, 0xff, 0xff, 1, 2, 3])),
  fc.constantFrom(0x91, 0x81).map(head => Buffer.alloc(200_000, head)),
)

test('a node lives with whatever arrives on its channels, and goes on working with the others', async context => {
  if (redisIsMissing !== null) return context.skip(redisIsMissing)
  await using redis = await startRedis()
  await using database = await createDatabase()
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url }
  await using one = await startServer(settings)
  await using other = await startServer(settings)
  const { app, people } = await one.chatWith(2)
  const [ann, ben] = people
  await using here = await listen(one.url, { token: ben.token })
  await using there = await listen(other.url, { token: ben.token })
  for (const inbox of [here, there]) {
    inbox.say({ type: 'subscribe', app_id: app, agents: true })
    await inbox.take(1, 'subscribed')
  }
  const probe = new Redis(redis.url)
  const channels = await eventually(async () => {
    const found = (await probe.call('pubsub', 'shardchannels')) as string[]
    const kinds = new Set(found.map(channel => channel.split(':')[3]))
    expect([...kinds].toSorted()).toEqual([
      'agent-frames',
      'agent-runs',
      'app',
      'arrival',
      'environment',
      'followed',
      'moved',
      'presence',
      'sessions',
    ])
    return found
  })

  for (const bytes of fc.sample(garbage, 200)) {
    await Promise.all(channels.map(channel => probe.call('spublish', channel, bytes)))
  }

  const writers = [one, other].map(({ url }) => client(url, ann.token))
  for (let i = 0; i < 20; i++) await create(writers[i % 2]!, `/api/apps/${app}/messages`, { text: `${i}` })
  const [heardHere, heardThere] = await Promise.all([here.take(20), there.take(20)])
  expect(heardHere.map(({ message }) => message.text)).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`))
  expect(heardThere.map(({ rev }) => rev)).toEqual(heardHere.map(({ rev }) => rev))
  probe.disconnect()
})

test('what is not understood is dropped, whether it cannot be read or its listener fails, and logged once a minute', () => {
  const lines: Record<string, unknown>[] = []
  let nowMs = 0
  const log = createLog('warn', line => void lines.push(JSON.parse(line) as Record<string, unknown>))
  const listeners = new Listeners(log, () => nowMs)
  const heard: unknown[] = []
  const read = (received: unknown) => {
    if (received !== 'a message') throw new TypeError('Not this')
    return received
  }
  listeners.set('one', read, message => heard.push(message))
  listeners.set(
    'two',
    received => received,
    () => {
      throw new Error('failed')
    },
  )

  const send = (channel: string, thing: unknown) => listeners.deliver(channel, packr.pack(thing))
  listeners.deliver('one', packMessage({ long: 'message' }).subarray(0, 5))
  send('one', 'another')
  send('two', 'a message')
  send('nobody', 'a message')
  send('one', 'a message')
  expect(lines).toMatchObject([{ channel: 'one', dropped: 1 }])
  nowMs += 60_000
  send('two', 'a message')

  expect(heard).toEqual(['a message'])
  expect(lines).toMatchObject([
    { channel: 'one', dropped: 1 },
    { channel: 'two', dropped: 3 },
  ])
})
