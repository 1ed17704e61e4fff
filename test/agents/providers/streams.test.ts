import { expect, test } from 'vitest'
import { startFakeProvider } from '../../support/fake-provider.ts'
import { events, forms, records, type Said } from '../../support/vendor-forms.ts'
import { ask, failureOf, getOrder, request, vendorAt } from './ask.ts'

const streamed = ['anthropic', 'responses', 'chat', 'gemini'] as const

const said: Said = {
  text: 'Lass mich schauen, 17 → größer 😀.',
  calls: [{ id: 'call_7', name: 'get_order', arguments: { id: '17', note: 'größer' } }],
  usage: { in: 100, out: 20, cached: 40 },
}
const asked = request({ tools: [getOrder] })

test.each(streamed)('%s: text, calls and usage arrive', async name => {
  await using fake = await startFakeProvider(said)

  const { text, end, usage } = await ask(vendorAt(fake.url, name), asked)

  expect(text).toBe(said.text)
  expect(end).toMatchObject({ reason: 'calls', requestId: 'req_1' })
  expect(end.calls.map(call => ({ ...call, arguments: JSON.parse(call.arguments) as unknown }))).toEqual(said.calls)
  expect(usage).toEqual(said.usage)
})

test.each(streamed)('%s: an answer whose bytes come one by one is the same', async name => {
  await using fake = await startFakeProvider(said)
  fake.queue(said, { ...said, chunks: 'bytes' })
  const provider = vendorAt(fake.url, name)

  const whole = await ask(provider, asked)
  const inBytes = await ask(provider, asked)

  expect(inBytes).toEqual(whole)
})

test.each(streamed)('%s: an unknown event, unknown members and members of other types are passed over', async name => {
  await using fake = await startFakeProvider()
  const odd = { type: 'response.future', delta: { text: 5, future: [] }, index: 'x', usage: 'none', choices: 'no' }
  const stream = `: a comment\r\n\r\nretry: 5\n\nid: 7\n\n${events([odd])}${forms[name](said)}`
  fake.queue(said, { stream }, { stream: stream.replaceAll('\n', '\r\n') }, { stream: stream.replaceAll('\n', '\r') })
  const provider = vendorAt(fake.url, name)
  const plain = await ask(provider, asked)

  for (let i = 0; i < 3; i++) expect((await ask(provider, asked)).end.calls).toEqual(plain.end.calls)
})

test.each(streamed)('%s: data in several lines is one record', async name => {
  await using fake = await startFakeProvider()
  const stream = forms[name](said).replace(/^data: \{/gm, 'data: {\ndata: ')
  fake.queue({ stream })

  expect((await ask(vendorAt(fake.url, name), asked)).text).toBe(said.text)
})

test.each(streamed)('%s: a record that is no JSON, or no object, is a failure to be tried again', async name => {
  await using fake = await startFakeProvider()
  fake.queue({ stream: 'data: {"half\n\n' }, { stream: 'data: 17\n\n' })
  const provider = vendorAt(fake.url, name)

  expect(await failureOf(ask(provider, asked))).toMatchObject({ code: 'provider_error', isRetryable: true })
  expect(await failureOf(ask(provider, asked))).toMatchObject({ code: 'provider_error', isRetryable: true })
})

test('a record over 4 MiB, and an answer over 64 MiB, are failures for good', async () => {
  await using fake = await startFakeProvider()
  const chunk = (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
  const mebibytes = (count: number) => 'x'.repeat(count * 1024 * 1024)
  fake.queue({ stream: records([chunk(mebibytes(4))]) }, { stream: records(Array(66).fill(chunk(mebibytes(1)))) })
  const provider = vendorAt(fake.url, 'chat')

  expect(await failureOf(ask(provider))).toMatchObject({ code: 'provider_error', isRetryable: false })
  expect(await failureOf(ask(provider))).toMatchObject({ code: 'provider_error', isRetryable: false })
  await expect.poll(() => fake.open).toBe(0)
})

test.each([
  ['length', 'length'],
  ['filtered', 'filtered'],
] as const)('an answer that ends by %s says so in all forms', async (end, reason) => {
  await using fake = await startFakeProvider({ text: 'As far as it', end })

  for (const name of streamed) expect((await ask(vendorAt(fake.url, name))).end.reason).toBe(reason)
})

test.each(['anthropic', 'responses', 'gemini', 'kapa'] as const)('%s: sources come with their titles', async name => {
  const sources = [{ url: 'https://example.com/a', title: 'A page' }]
  await using fake = await startFakeProvider({ text: 'It says so.', sources })

  expect(await ask(vendorAt(fake.url, name))).toMatchObject({ text: 'It says so.', sources })
})

test('characters that cannot be stored are left out', async () => {
  await using fake = await startFakeProvider({ text: 'one\0two' })

  for (const name of [...streamed, 'kapa'] as const) expect((await ask(vendorAt(fake.url, name))).text).toBe('onetwo')
})

test('aborting closes the connection at once, before the answer and in the middle of it', async () => {
  await using fake = await startFakeProvider({ hang: true })
  const stop = new AbortController()

  const asking = ask(vendorAt(fake.url, 'anthropic'), asked, stop.signal).catch((error: unknown) => error)
  await fake.take(1)
  stop.abort(new Error('cancelled'))

  expect(await asking).toMatchObject({ message: 'cancelled' })
  await expect.poll(() => [fake.open, fake.cutByClient]).toEqual([0, 1])
})
