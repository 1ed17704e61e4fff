import { expect, test } from 'vitest'
import { ipCheck } from '../../src/egress/ip-policy.ts'
import { Egress } from '../../src/egress/egress.ts'
import { toFetch } from '../../src/egress/to-fetch.ts'
import { answer, drip, hang, startReceiver } from '../support/receiver.ts'

test('a request arrives with its method, headers and body, whether that is text or bytes', async () => {
  await using receiver = await startReceiver(answer(201, '{"made":true}', { 'content-type': 'application/json' }))
  const headers = { 'X-Color': 'blue', 'content-type': 'application/json' }

  const made = await guarded(receiver.url, { method: 'POST', headers, body: '{"text":"Grüße"}' })
  await (await guarded(receiver.url, { method: 'POST', headers, body: Buffer.from('{"text":"Grüße"}') })).text()
  await (await guarded(new URL(receiver.url), { method: 'DELETE', headers: new Headers(headers) })).text()
  await (await guarded(new Request(receiver.url, { headers }))).text()

  expect([made.status, made.headers.get('content-type'), await made.json()]).toEqual([
    201,
    'application/json',
    { made: true },
  ])
  expect(receiver.requests.map(({ method, body }) => [method, body])).toEqual([
    ['POST', '{"text":"Grüße"}'],
    ['POST', '{"text":"Grüße"}'],
    ['DELETE', ''],
    ['GET', ''],
  ])
  for (const request of receiver.requests) expect(request.headers).toMatchObject({ 'x-color': 'blue' })
})

test('the body of an answer is a stream, and cancelling it closes the connection', async () => {
  await using receiver = await startReceiver(drip)

  const reader = (await guarded(receiver.url)).body!.getReader()
  const { value } = await reader.read()
  await reader.cancel()

  expect(Buffer.from(value!).toString()).toBe('.')
  await expect.poll(() => receiver.inFlight).toBe(0)
})

test('an answer without a body is one', async () => {
  await using receiver = await startReceiver(answer(204))

  const response = await guarded(receiver.url, { method: 'DELETE' })

  expect([response.status, response.body]).toEqual([204, null])
})

test('a redirect is an answer like any other', async () => {
  await using receiver = await startReceiver(answer(302, '', { location: 'http://127.0.0.1:1/' }))

  expect((await guarded(receiver.url, { redirect: 'follow' })).status).toBe(302)
})

test('a signal that aborts rejects with its reason, before the answer and in the middle of it', async () => {
  await using silent = await startReceiver(hang)
  await using slow = await startReceiver(drip)
  const stop = new AbortController()

  const before = guarded(silent.url, { signal: stop.signal }).catch((error: unknown) => error)
  const response = await guarded(slow.url, { signal: stop.signal })
  const during = response.text().catch((error: unknown) => error)
  await silent.take(1)
  stop.abort(new Error('enough'))

  expect(await before).toMatchObject({ message: 'enough' })
  expect(await during).toMatchObject({ message: 'enough' })
  await expect.poll(() => [silent.inFlight, slow.inFlight]).toEqual([0, 0])
})

test('what may not be reached, or cannot be, is a TypeError with the reason as its cause', async () => {
  const closed = toFetch(new Egress({ isAllowed: () => false }), limits)

  await expect(closed('http://127.0.0.1:1/')).rejects.toMatchObject({ name: 'TypeError', cause: { fault: 'address' } })
  await expect(guarded('http://127.0.0.1:1/')).rejects.toMatchObject({ cause: { fault: 'connection' } })
  await expect(guarded('file:///etc/passwd')).rejects.toMatchObject({ cause: { fault: 'url' } })
})

test('an answer without end is cut at its limit', async () => {
  await using receiver = await startReceiver(answer(200, 'x'.repeat(2_000)))
  const brief = toFetch(new Egress({ isAllowed: () => true }), { ...limits, limitBytes: 1_000 })

  const response = await brief(receiver.url)

  await expect(response.text()).rejects.toMatchObject({ name: 'TypeError', cause: { fault: 'size' } })
})

const limits = { deadlineMs: 3_000, idleMs: 3_000, limitBytes: 1_000_000 }
const guarded = toFetch(new Egress({ isAllowed: ipCheck({ allowsPrivate: true }) }), limits)
