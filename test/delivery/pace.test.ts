import { expect, test } from 'vitest'
import { Limiter } from '../../src/delivery/limiter.ts'
import { createOutbox } from '../support/outbox.ts'
import { startReceiver } from '../support/receiver.ts'

test('a receiver gets no more in any second than its rate, however many webhooks it has', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver()
  const webhooks = [await outbox.register(receiver), await outbox.register(receiver)]
  for (const webhook of webhooks) await outbox.queue(webhook, [1, 2, 3, 4, 5, 6, 7, 8])

  const node = outbox.node({ limiter: new Limiter(5) })
  for (const webhook of webhooks) node.wake(webhook)
  const requests = await receiver.take(16)

  // A request takes a moment from its start to its arrival, and not always the same one.
  const jitterMs = 50
  for (const [i, { atMs }] of requests.slice(5).entries()) {
    expect(atMs - requests[i]!.atMs).toBeGreaterThan(1_000 - jitterMs)
  }
})

test('deliveries one by one are not slowed down as long as they stay below the rate', async () => {
  await using outbox = await createOutbox()
  await using receiver = await startReceiver()
  const webhook = await outbox.register(receiver)
  const node = outbox.node({ limiter: new Limiter(20) })
  const startedMs = performance.now()

  for (let event = 1; event <= 10; event++) {
    await outbox.queue(webhook, [event])
    node.wake(webhook)
    await receiver.take(event)
  }

  expect(performance.now() - startedMs).toBeLessThan(900)
})
