import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ReceiverPacer } from '../../src/resources/webhooks/delivery/receiver-pacer.ts'
import { eventually } from '../support/eventually.ts'
import { createOutbox } from '../support/outbox.ts'
import { startReceiver } from '../support/receiver.ts'

const { signal } = new AbortController()

test('what waits for a receiver comes at its rate, however many webhooks it has', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver()
  const webhooks = [await outbox.register(receiver), await outbox.register(receiver)]
  for (const webhook of webhooks) await outbox.queue(webhook, [1, 2, 3, 4, 5, 6, 7, 8])
  const node = outbox.node({ limiter: new ReceiverPacer(5) })
  const startedMs = performance.now()

  for (const webhook of webhooks) node.wake(webhook)
  await receiver.take(16)

  // Timers may fire a moment early.
  expect(performance.now() - startedMs).toBeGreaterThan(3_000 - 10)
})

test('a webhook that moves to another receiver keeps to its rate there', async () => {
  await using outbox = await createOutbox()
  const inFlight = Promise.withResolvers<ServerResponse>()
  await using before = await startReceiver((_request, response) => inFlight.resolve(response))
  await using afterwards = await startReceiver()
  const [moving, staying] = [await outbox.register(before), await outbox.register(afterwards)]
  for (const webhook of [moving, staying]) await outbox.queue(webhook, [1, 2, 3, 4, 5, 6])
  const node = outbox.node({ limiter: new ReceiverPacer(5) })

  node.wake(moving)
  const response = await inFlight.promise
  await outbox.sql`update webhooks set payload_url = ${afterwards.url} where id = ${moving}`
  const startedMs = performance.now()
  response.end()
  node.wake(staying)
  await afterwards.take(11)

  // Timers may fire a moment early.
  expect(performance.now() - startedMs).toBeGreaterThan(2_000 - 10)
})

test('whoever waits long for the pace of a receiver sends when the turn comes, and no other node meanwhile', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver()
  const webhook = await outbox.register(receiver)
  await outbox.queue(webhook, [1])
  const composed: string[] = []
  const node = (name: string, limiter: ReceiverPacer) => {
    const compose = async () => String(composed.push(name))
    return outbox.node({ limiter, compose, deadlineMs: 300 })
  }
  // The turn comes after six seconds: a lease lasts for less, and allows no attempt to begin in its last 1.3 seconds.
  const busy = new ReceiverPacer(1)
  for (let asked = 0; asked < 6; asked++) void busy.acquire(receiver.url, signal)
  const other = node('other', new ReceiverPacer(1))

  node('first', busy).wake(webhook)
  await eventually(async () => expect(await outbox.leaseHolder(webhook)).not.toBeNull())
  const arrived = async () => {
    await other.poll()
    expect(receiver.requests).toHaveLength(1)
  }
  await eventually(arrived, { timeoutMs: 15_000 })

  expect(composed).toEqual(['first'])
})

describe('by the clock', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('no second has more requests to an origin than its rate, whenever they are asked for', async () => {
    const limiter = new ReceiverPacer(5)
    const admitted: number[] = []
    for (let asked = 0; asked < 40; asked++) {
      void limiter.acquire(`http://receiver.test/${asked % 3}`, signal).then(() => admitted.push(Date.now()))
      await vi.advanceTimersByTimeAsync((asked * 37) % 150)
    }
    await vi.advanceTimersByTimeAsync(8_000)

    expect(admitted).toHaveLength(40)
    const spans = admitted.slice(5).map((atMs, i) => atMs - admitted[i]!)
    expect(Math.min(...spans)).toBeGreaterThanOrEqual(1_000)
  })

  test('however many receivers there are, none gets more than its rate', async () => {
    const limiter = new ReceiverPacer(1)
    const admitted: Record<string, number[]> = { waited: [], asked: [] }
    const ask = (name: string) =>
      void limiter.acquire(`http://${name}.test/`, signal).then(() => admitted[name]?.push(Date.now()))

    for (let i = 0; i < 4; i++) ask('waited')
    await vi.advanceTimersByTimeAsync(1_500)
    ask('asked')
    for (let i = 0; i < 1_000; i++) ask(`other-${i}`)
    for (const name of ['waited', 'asked']) ask(name)
    await vi.advanceTimersByTimeAsync(8_000)

    const spans = Object.values(admitted).map(times => times.slice(1).map((atMs, i) => atMs - times[i]!))
    expect(spans.map(({ length }) => length)).toEqual([4, 1])
    expect(Math.min(...spans.flat())).toBeGreaterThanOrEqual(1_000)
  })

  test('below the rate nobody waits, and no origin for another', async () => {
    const limiter = new ReceiverPacer(5)
    for (let asked = 0; asked < 30; asked++) {
      const urls = ['http://one.test/', 'http://other.test/']
      expect(await Promise.all(urls.map(url => limiter.acquire(url, signal)))).toEqual([true, true])
      await vi.advanceTimersByTimeAsync(200)
    }
  })
})
