import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Compose } from '../../src/resources/webhooks/delivery/queue.ts'
import { eventually } from '../support/eventually.ts'
import { createOutbox } from '../support/outbox.ts'
import { acknowledge, answer, hang, startReceiver, type Behaviour } from '../support/receiver.ts'

test('deliveries of different apps go out side by side, those of one app one after the other in event order', async () => {
  await using outbox = await createOutbox()
  // The first four wait for each other.
  const held: (() => void)[] = []
  await using receiver = await startReceiver((request, response) => {
    if (held.push(() => acknowledge(request, response)) < 4) return
    for (const go of held.splice(0)) go()
    receiver.behaviour = after(5)
  })
  const webhook = await outbox.register(receiver)
  const appOf = (event: number) => event % 6
  const events = Array.from({ length: 60 }, (_, i) => i)

  await outbox.queue(webhook, events, outbox.sql, appOf)
  outbox.node({ parallel: 4 }).wake(webhook)

  const told = (await receiver.take(60)).map(eventOf)
  const byApp = Map.groupBy(told, appOf)
  for (const own of byApp.values()) expect(own).toEqual(own.toSorted((a, b) => a - b))
  expect(receiver.mostInFlight).toBe(4)
})

test('an app whose delivery takes long holds up none of another, also if that is queued meanwhile', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver((request, response) =>
    eventOf(request) === 1 ? undefined : acknowledge(request, response),
  )
  const webhook = await outbox.register(receiver)
  const node = outbox.node()
  const appOf = (event: number) => Math.min(event, 3)
  await outbox.queue(webhook, [1, 2], outbox.sql, appOf)
  node.wake(webhook)
  await receiver.take(2)

  await outbox.queue(webhook, [3, 4], outbox.sql, appOf)
  node.wake(webhook)

  expect((await receiver.take(4)).map(eventOf)).toEqual([1, 2, 3, 4])
  expect(await outbox.statuses(webhook)).toMatchObject({ queued: expect.any(Number) })
})

test('a receiver that takes 200 ms gets more than 30 events a second of 50 apps', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver(after(200))
  const webhook = await outbox.register(receiver)
  const events = Array.from({ length: 60 }, (_, i) => i)
  await outbox.queue(webhook, events, outbox.sql, event => event % 50)
  const startedMs = performance.now()

  outbox.node().wake(webhook)
  await receiver.take(60)

  // One at a time would take twelve seconds.
  expect(performance.now() - startedMs).toBeLessThan(8_000)
})

test('deliveries of an app go out in event order, one at a time', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver(after(5))
  const webhook = await outbox.register(receiver)
  const events = Array.from({ length: 30 }, (_, i) => (i * 7) % 30)

  await outbox.queue(webhook, events)
  outbox.node().wake(webhook)

  const requests = await receiver.take(30)
  expect(requests.map(eventOf)).toEqual(events.toSorted((a, b) => a - b))
  expect(receiver.mostInFlight).toBe(1)
})

test('several nodes send every delivery once, in order, one at a time', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver(after(2))
  const webhook = await outbox.register(receiver)
  const nodes = [outbox.node(), outbox.node(), outbox.node()]

  for (let event = 0; event < 60; event++) {
    await outbox.queue(webhook, [event])
    nodes[event % 3]!.wake(webhook)
    if (event % 10 === 0) await Promise.all(nodes.map(node => node.poll()))
  }
  await eventually(async () => {
    await Promise.all(nodes.map(node => node.poll()))
    expect(await outbox.statuses(webhook)).toEqual({ success: 60 })
  })

  expect(receiver.requests.map(eventOf)).toEqual(Array.from({ length: 60 }, (_, i) => i))
  expect(receiver.mostInFlight).toBe(1)
})

test('a receiver that hangs holds up nobody else', async () => {
  await using outbox = await createOutbox()
  await using stuck = await startReceiver(hang)
  await using quick = await startReceiver()
  const webhooks = [await outbox.register(stuck), await outbox.register(quick)]

  for (const webhook of webhooks) await outbox.queue(webhook, [1, 2, 3])
  const node = outbox.node({ deadlineMs: 5_000 })
  for (const webhook of webhooks) node.wake(webhook)

  await quick.take(3, 2_000)
  await stuck.take(1)
  expect(stuck.requests).toHaveLength(1)
})

test('an attempt that comes to nothing in time is a failure, is not repeated, and the next one follows', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver((request, response) =>
    eventOf(request) === 1 ? undefined : acknowledge(request, response),
  )
  const webhook = await outbox.register(receiver)

  await outbox.queue(webhook, [1, 2])
  outbox.node({ deadlineMs: 300 }).wake(webhook)

  await eventually(async () => expect(await outbox.statuses(webhook)).toEqual({ success: 1, failure: 1 }))
  expect(receiver.requests.map(eventOf)).toEqual([1, 2])
  expect(await outbox.record(webhook, 1)).toMatchObject({
    status: 'failure',
    status_code: null,
    response: { error: 'No complete answer within 0.3 s' },
  })
})

test('an event whose commit comes late goes out before the later events that were committed first', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver()
  const webhook = await outbox.register(receiver)
  const node = outbox.node()

  const late = await outbox.sql.reserve()
  await late`begin`
  await outbox.queue(webhook, [1], late)
  await outbox.queue(webhook, [2])
  node.wake(webhook)
  await eventually(async () => expect(await outbox.leaseHolder(webhook)).not.toBeNull())
  await late`commit`
  late.release()

  expect((await receiver.take(2)).map(eventOf)).toEqual([1, 2])
})

test('a transaction that hangs holds up deliveries only for a moment', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver()
  const webhook = await outbox.register(receiver)

  const stuck = await outbox.sql.reserve()
  await stuck`begin`
  await outbox.queue(webhook, [1], stuck)
  await outbox.queue(webhook, [2])
  outbox.node().wake(webhook)

  expect((await receiver.take(1)).map(eventOf)).toEqual([2])
  await stuck`rollback`
  stuck.release()
})

test('what a dead node left behind is sent when its lease has run out, and not before', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver()
  const webhook = await outbox.register(receiver)
  await outbox.queue(webhook, [1])
  await outbox.sql`
    update webhooks set leased_by = ${randomUUID()}, leased_until = clock_timestamp() + interval '1 s'`
  const startedMs = performance.now()

  const node = outbox.node()
  node.wake(webhook)
  await eventually(async () => {
    await node.poll()
    expect(receiver.requests).toHaveLength(1)
  })

  expect(performance.now() - startedMs).toBeGreaterThan(900)
})

test('a node that stops finishes what is in flight, starts nothing more, and returns the lease', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver(after(300))
  const webhook = await outbox.register(receiver)
  await outbox.queue(webhook, [1, 2])
  const node = outbox.node()

  node.wake(webhook)
  await receiver.take(1)
  await node.stop(5_000)

  expect(receiver.requests).toHaveLength(1)
  expect(await outbox.statuses(webhook)).toEqual({ success: 1, queued: 1 })
  expect(await outbox.leaseHolder(webhook)).toBeNull()
})

test('what is cut when a node stops is sent again, under the same guid', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver(hang)
  const webhook = await outbox.register(receiver)
  await outbox.queue(webhook, [1])
  const node = outbox.node()

  node.wake(webhook)
  await receiver.take(1)
  await node.stop(200)
  receiver.behaviour = acknowledge
  await outbox.node().poll()

  const [first, second] = await receiver.take(2)
  expect(second!.headers['x-service-delivery']).toBe(first!.headers['x-service-delivery'])
  await eventually(async () => expect(await outbox.statuses(webhook)).toEqual({ success: 1 }))
})

test('an outcome whose filing fails is filed again, and the delivery is not repeated', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver()
  const webhook = await outbox.register(receiver)
  await outbox.queue(webhook, [1])
  const lock = await outbox.sql.reserve()
  await lock`begin`
  await lock`select from deliveries for update`

  outbox.node().wake(webhook)
  await eventually(async () => expect(await outbox.breakWaiting()).toBe(1))
  await lock`rollback`
  lock.release()

  await eventually(async () => expect(await outbox.statuses(webhook)).toEqual({ success: 1 }))
  expect(receiver.requests).toHaveLength(1)
})

test('a disabled webhook gets nothing more, from the very next delivery on', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver(after(100))
  const webhook = await outbox.register(receiver)
  await outbox.queue(webhook, [1, 2])

  outbox.node().wake(webhook)
  await receiver.take(1)
  await outbox.sql`update webhooks set is_enabled = false`

  await eventually(async () => expect(await outbox.leaseHolder(webhook)).toBeNull())
  expect(receiver.requests).toHaveLength(1)
})

test('a delivery goes to the address and is signed with the secret of the moment in which it is sent', async () => {
  await using outbox = await createOutbox()
  await using before = await startReceiver(after(100))
  await using afterwards = await startReceiver()
  const webhook = await outbox.register(before)
  await outbox.queue(webhook, [1, 2])

  outbox.node().wake(webhook)
  await before.take(1)
  await outbox.sql`update webhooks set payload_url = ${afterwards.url}, secret = 'new'`

  expect((await afterwards.take(1)).map(eventOf)).toEqual([2])
  expect(before.requests[0]!.headers).not.toHaveProperty('x-service-signature')
  expect(afterwards.requests[0]!.headers).toHaveProperty('x-service-signature')
})

test('an event that can no longer be told is filed as a failure and holds up nothing', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver()
  const webhook = await outbox.register(receiver)
  await outbox.queue(webhook, [1, 2])

  const compose: Compose = async ({ event_id }) => (event_id === 1 ? null : JSON.stringify({ id: event_id }))
  outbox.node({ compose }).wake(webhook)

  expect((await receiver.take(1)).map(eventOf)).toEqual([2])
  expect(await outbox.record(webhook, 1)).toMatchObject({ status: 'failure', request: null })
})

test('a payload that cannot be made for now is made later', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver()
  const webhook = await outbox.register(receiver)
  await outbox.queue(webhook, [1])
  let tries = 0

  const node = outbox.node({
    async compose({ event_id }) {
      if (++tries === 1) throw new Error('The database is away')
      return JSON.stringify({ id: event_id })
    },
  })
  node.wake(webhook)
  await eventually(async () => {
    await node.poll()
    expect(receiver.requests).toHaveLength(1)
  })

  expect(tries).toBe(2)
})

/** 200 after a while. */
const after =
  (delayMs: number): Behaviour =>
  (_request, response) =>
    void setTimeout(() => answer(200)(_request, response), delayMs)

const eventOf = ({ body }: { body: string }): number => JSON.parse(body).id
