import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { ipCheck } from '../../src/egress/ip-policy.ts'
import { attempt, type Shipment } from '../../src/resources/webhooks/delivery/attempt.ts'
import { Egress } from '../../src/egress/egress.ts'
import { acknowledge, answer, drip, flood, hang, startReceiver, type Behaviour } from '../support/receiver.ts'

test('a delivery carries its guid, its trigger, and a signature that the receiver can recompute', async () => {
  await using receiver = await startReceiver()
  const secret = 'schlüssel'

  await send(receiver.url, { secret, body: '{"name":"Zoë"}' })

  const [{ method, headers, body }] = await receiver.take(1)
  expect(method).toBe('POST')
  expect(body).toBe('{"name":"Zoë"}')
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'ServiceBot/32.1.0',
    'x-service-delivery': shipment.guid,
    'x-service-trigger': 'messages',
    'x-service-signature': `sha256=${createHmac('sha256', secret).update(body, 'utf8').digest('hex')}`,
  })
})

test('without a secret there is no signature', async () => {
  await using receiver = await startReceiver()

  await send(receiver.url)

  expect((await receiver.take(1))[0].headers).not.toHaveProperty('x-service-signature')
})

test('where this node stood still in the meantime, that the time is over says nothing of the receiver', async () => {
  await using receiver = await startReceiver(hang)
  const still = new Int32Array(new SharedArrayBuffer(4))

  const sent = send(receiver.url, {}, { deadlineMs: 200 })
  await receiver.take(1)
  Atomics.wait(still, 0, 0, 1_300)

  expect(await sent).toBeNull()
})

test.each<[string, Behaviour, 'success' | 'failure', number]>([
  ['200', acknowledge, 'success', 200],
  ['202', answer(202), 'success', 202],
  ['204', answer(204), 'success', 204],
  ['a redirect', answer(302, '', { location: 'http://127.0.0.1:1/' }), 'failure', 302],
  ['400', answer(400, 'no'), 'failure', 400],
  ['500', answer(500, 'broken'), 'failure', 500],
])('%s is filed for what it is', async (_name, behaviour, status, statusCode) => {
  await using receiver = await startReceiver(behaviour)

  const outcome = await send(receiver.url)

  expect(outcome).toMatchObject({ status, status_code: statusCode, response: { status_code: statusCode } })
  expect(receiver.requests).toHaveLength(1)
})

test('request and response are filed with headers and body', async () => {
  await using receiver = await startReceiver(answer(200, 'thanks', { 'x-color': 'blue' }))

  const outcome = await send(receiver.url)

  expect(outcome).toMatchObject({
    body: shipment.body,
    request: { url: receiver.url, method: 'POST', headers: { 'X-Service-Delivery': shipment.guid } },
    response: { headers: { 'x-color': 'blue' }, body: 'thanks' },
  })
  expect(outcome!.duration_ms).toBeGreaterThan(0)
})

test('an endless answer is a success of which 64 KiB are kept', async () => {
  await using receiver = await startReceiver(flood)

  const outcome = await send(receiver.url)

  expect(outcome).toMatchObject({ status: 'success', response: { body: 'x'.repeat(65_536) } })
})

test('a character that is cut in two is left out, and NUL is replaced because it cannot be stored', async () => {
  const start = `a\0b${'x'.repeat(65_532)}`
  await using receiver = await startReceiver(answer(200, `${start}é and more`))

  const outcome = await send(receiver.url)

  expect(outcome!.response).toMatchObject({ body: start.replace('\0', '\uFFFD') })
})

test('silence until the deadline is a failure without a status', async () => {
  await using receiver = await startReceiver(hang)

  const outcome = await send(receiver.url, {}, { deadlineMs: 200 })

  expect(outcome).toMatchObject({ status: 'failure', status_code: null })
  expect(outcome!.response).toEqual({ error: 'No complete answer within 0.2 s' })
  expect(outcome!.duration_ms).toBeGreaterThan(190)
})

test('an answer that drips until the deadline is a failure, filed with what had come', async () => {
  await using receiver = await startReceiver(drip)

  const outcome = await send(receiver.url, {}, { deadlineMs: 200 })

  expect(outcome).toMatchObject({
    status: 'failure',
    status_code: 200,
    response: { status_code: 200, body: expect.stringMatching(/^\.+$/), error: expect.any(String) },
  })
})

test('a receiver that cannot be reached is a failure with the reason', async () => {
  const outcome = await send('http://127.0.0.1:1/')

  expect(outcome).toMatchObject({
    status: 'failure',
    status_code: null,
    response: { error: expect.stringContaining('ECONNREFUSED') },
  })
})

test('an attempt that is stopped counts for nothing', async () => {
  await using receiver = await startReceiver(hang)
  const stop = new AbortController()

  const outcome = send(receiver.url, {}, { signal: stop.signal })
  await receiver.take(1)
  stop.abort()

  expect(await outcome).toBeNull()
})

const shipment = {
  secret: null,
  guid: '6f0f1b0e-5f0a-4b7c-9f62-1d5a0c1d2e3f',
  trigger: 'messages',
  body: '{"id":"1"}',
}

const egress = new Egress({ isAllowed: ipCheck({ allowsPrivate: true }) })

function send(
  url: string,
  changes: Partial<Shipment> = {},
  options: { deadlineMs?: number; signal?: AbortSignal } = {},
) {
  const basics = { deadlineMs: 3_000, userAgent: 'ServiceBot/32.1.0', signal: new AbortController().signal }
  return attempt(egress, { ...shipment, url, ...changes }, { ...basics, startedAt: new Date(), ...options })
}
