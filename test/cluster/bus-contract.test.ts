import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { LocalBus } from '../../src/cluster/bus-local.ts'
import { RedisBus } from '../../src/cluster/bus-redis.ts'
import type { Bus } from '../../src/cluster/bus.ts'
import { createLog } from '../../src/lib/log.ts'
import { eventually } from '../support/eventually.ts'
import { redisIsMissing, startRedis } from '../support/redis.ts'

interface Body {
  bus: Bus
  [Symbol.asyncDispose](): Promise<void>
}

async function openLocal(): Promise<Body> {
  const bus = new LocalBus(createLog('error'))
  return { bus, [Symbol.asyncDispose]: () => bus.close() }
}

async function openRedis(): Promise<Body> {
  const redis = await startRedis()
  const bus = await RedisBus.connect({
    url: redis.url,
    isCluster: false,
    deployment: 'one',
    version: '1',
    log: createLog('error'),
  })
  return {
    bus,
    async [Symbol.asyncDispose]() {
      await bus.close()
      await redis[Symbol.asyncDispose]()
    },
  }
}

/** Reads whatever arrives. */
const anything = (received: unknown) => received

/** What arrives on a channel, from when the bus has begun to deliver there. */
async function listen(bus: Bus, channel: string): Promise<{ received: unknown[]; end: () => void }> {
  const received: unknown[] = []
  const end = bus.subscribe(channel, anything, message => received.push(message))
  await eventually(() => {
    bus.publish(channel, { isProbe: true })
    expect(received).not.toEqual([])
  })
  await flush(bus)
  received.length = 0
  return { received, end }
}

let flushes = 0

/** Resolves when all that was published before has been delivered: messages of one node keep their order. */
async function flush(bus: Bus): Promise<void> {
  const channel = `flush-${flushes++}`
  let isDelivered = false
  const end = bus.subscribe(channel, anything, () => (isDelivered = true))
  await eventually(() => {
    bus.publish(channel, {})
    expect(isDelivered).toBe(true)
  })
  end()
}

const bodies = [
  { name: 'the local bus', open: openLocal, isMissing: false },
  { name: 'the Redis bus', open: openRedis, isMissing: redisIsMissing !== null },
]

for (const { name, open, isMissing } of bodies) {
  describe.skipIf(isMissing)(name, () => {
    test('delivers what is published on a channel in order, to the node that published it too, and on no other channel', async () => {
      await using body = await open()
      const { received } = await listen(body.bus, 'one')
      const other = await listen(body.bus, 'two')

      for (let i = 0; i < 100; i++) body.bus.publish('one', { i })
      await flush(body.bus)

      expect(received).toEqual(Array.from({ length: 100 }, (_, i) => ({ i })))
      expect(other.received).toEqual([])
    })

    test('never delivers within the call that publishes', async () => {
      await using body = await open()
      const { received } = await listen(body.bus, 'one')

      body.bus.publish('one', {})

      expect(received).toEqual([])
      await flush(body.bus)
      expect(received).toEqual([{}])
    })

    test('delivers plain values, dates and bytes as they were when they were published', async () => {
      await using body = await open()
      const { received } = await listen(body.bus, 'one')
      const message = { at: new Date(1_700_000_000_123), bytes: Buffer.from([0, 255]), big: 2 ** 52, list: ['ä', null] }

      body.bus.publish('one', message)
      message.list.push('later')
      await flush(body.bus)

      expect(received).toEqual([{ ...message, list: ['ä', null] }])
    })

    test('delivers nothing to a listener that has ended, and what comes later to the next one', async () => {
      await using body = await open()
      const first = await listen(body.bus, 'one')

      first.end()
      body.bus.publish('one', { i: 1 })
      await flush(body.bus)
      const second = await listen(body.bus, 'one')
      body.bus.publish('one', { i: 2 })
      await flush(body.bus)

      expect(first.received).toEqual([])
      expect(second.received).toEqual([{ i: 2 }])
    })

    test('delivers nothing once it is closed, may be closed twice, and may still be published on', async () => {
      await using body = await open()
      const { received } = await listen(body.bus, 'one')

      body.bus.publish('one', {})
      await body.bus.close()
      await body.bus.close()
      body.bus.publish('one', {})
      await nextTurn()

      expect(received).toEqual([])
    })

    test('can be used as soon as it is made', async () => {
      await using body = await open()

      expect(body.bus.isConnected).toBe(true)
    })
  })
}
