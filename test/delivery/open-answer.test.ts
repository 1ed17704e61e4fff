import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { ipCheck, type IpPolicy } from '../../src/egress/ip-policy.ts'
import { Egress, type OpenRequest } from '../../src/egress/egress.ts'
import { EgressFailed } from '../../src/egress/egress-failed.ts'
import { answer, drip, flood, hang, startReceiver } from '../support/receiver.ts'

test('the head of an answer is there before its body, which is read while it arrives', async () => {
  let finish = () => {}
  await using receiver = await startReceiver((_request, response) => {
    response.writeHead(200, { 'x-color': 'blue' }).write('first')
    finish = () => response.end('last')
  })

  const { status, headers, body } = await open({ url: receiver.url })
  const first = await body.next()
  finish()

  expect([status, headers['x-color'], String(first.value)]).toEqual([200, 'blue', 'first'])
  expect(await textOf(body)).toBe('last')
})

test('an address is checked before anything is sent, and a redirect is an answer', async () => {
  await using receiver = await startReceiver(answer(307, 'elsewhere', { location: 'http://127.0.0.1:1/' }))

  const refused = await failureOf(open({ url: receiver.url, policy: { allowsPrivate: false } }))
  const redirect = await open({ url: receiver.url })

  expect(refused.fault).toBe('address')
  expect([redirect.status, await textOf(redirect.body)]).toEqual([307, 'elsewhere'])
  expect(receiver.requests).toHaveLength(1)
})

test('an answer that does not begin is given up after one wait', async () => {
  await using receiver = await startReceiver(hang)

  const failure = await failureOf(open({ url: receiver.url, idleMs: 100 }))

  expect(failure).toMatchObject({ fault: 'idle', message: 'Nothing arrived for 0.1 s' })
  await expect.poll(() => receiver.inFlight).toBe(0)
})

test('a body that stops arriving is given up after one wait', async () => {
  await using receiver = await startReceiver((_request, response) => void response.writeHead(200).write('half'))

  const { body } = await open({ url: receiver.url, idleMs: 100 })
  await body.next()
  const failure = await failureOf(body.next())

  expect(failure.fault).toBe('idle')
  await expect.poll(() => receiver.inFlight).toBe(0)
})

test('a reader that takes longer than one wait may loses nothing', async () => {
  await using receiver = await startReceiver(answer(200, 'patient'))

  const { body } = await open({ url: receiver.url, idleMs: 50 })
  const waitedFrom = performance.now()
  await expect.poll(() => performance.now() - waitedFrom).toBeGreaterThan(100)

  expect(await textOf(body)).toBe('patient')
})

test('a body that drips for ever ends at the deadline of the whole', async () => {
  await using receiver = await startReceiver(drip)

  const { body } = await open({ url: receiver.url, deadlineMs: 200, idleMs: 150 })
  const failure = await failureOf(textOf(body))

  expect(failure.fault).toBe('deadline')
  await expect.poll(() => receiver.inFlight).toBe(0)
})

test('a body that nothing reads is let go at the deadline', async () => {
  await using receiver = await startReceiver(drip)

  const { body } = await open({ url: receiver.url, deadlineMs: 100 })
  await expect.poll(() => receiver.inFlight).toBe(0)

  expect((await failureOf(textOf(body))).fault).toBe('deadline')
})

test('a body of more than the limit is refused, and no more of it is read', async () => {
  await using receiver = await startReceiver(flood)

  const { body } = await open({ url: receiver.url, limitBytes: 1_000_000 })
  const failure = await failureOf(textOf(body))

  expect(failure.fault).toBe('size')
  await expect.poll(() => receiver.inFlight).toBe(0)
  expect(receiver.sentBytes).toBeLessThan(50 * 1024 * 1024)
})

test('a connection that breaks in the middle of the body is a failure', async () => {
  await using receiver = await startReceiver((_request, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('half', () => response.destroy())
  })

  const { body } = await open({ url: receiver.url })
  const failure = await failureOf(textOf(body))

  expect(failure.fault).toBe('connection')
})

test('a caller stops an answer before it begins, between two reads, and in the middle of one', async () => {
  await using silent = await startReceiver(hang)
  await using slow = await startReceiver((_request, response) => void response.writeHead(200).write('half'))
  const [before, between, during] = [new AbortController(), new AbortController(), new AbortController()]

  const opening = failureOf(open({ url: silent.url, signal: before.signal }))
  await silent.take(1)
  before.abort()
  const [one, two] = [
    await open({ url: slow.url, signal: between.signal }),
    await open({ url: slow.url, signal: during.signal }),
  ]
  await two.body.next()
  const reading = failureOf(two.body.next())
  between.abort()
  during.abort()

  expect((await opening).fault).toBe('stopped')
  expect((await reading).fault).toBe('stopped')
  expect((await failureOf(textOf(one.body))).fault).toBe('stopped')
  await expect.poll(() => [silent.inFlight, slow.inFlight]).toEqual([0, 0])
})

test('a body that is left early, or returned unread, closes its connection', async () => {
  await using receiver = await startReceiver(drip)

  const [left, unread] = [await open({ url: receiver.url }), await open({ url: receiver.url })]
  for await (const _chunk of left.body) break
  await unread.body.return?.()

  await expect.poll(() => receiver.inFlight).toBe(0)
})

test('an answer that was read leaves nothing behind at the signal that could have stopped it', async () => {
  await using receiver = await startReceiver()
  const { signal } = new AbortController()
  const before = inspect(signal, { customInspect: false, showHidden: true })

  await textOf((await open({ url: receiver.url, signal })).body)

  expect(inspect(signal, { customInspect: false, showHidden: true })).toBe(before)
})

const basics = { method: 'GET', headers: {}, deadlineMs: 3_000, idleMs: 3_000, limitBytes: 1_000_000 } as const

function open({ policy, ...request }: Partial<OpenRequest> & { url: string; policy?: IpPolicy }) {
  return new Egress({ isAllowed: ipCheck(policy ?? { allowsPrivate: true }) }).open({ ...basics, ...request })
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const chunk of body) text += String(chunk)
  return text
}

async function failureOf(work: Promise<unknown>): Promise<EgressFailed> {
  const error = await work.then(
    () => new Error('Nothing failed'),
    (error: unknown) => error,
  )
  if (error instanceof EgressFailed) return error
  throw error
}
