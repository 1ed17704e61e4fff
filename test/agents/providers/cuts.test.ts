import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { ProviderFailed } from '../../../src/agents/providers/provider.ts'
import { startFakeProvider, type FakeProvider, type Reply } from '../../support/fake-provider.ts'
import { ask, getOrder, request, vendorAt, type Answer } from './ask.ts'
import { recorded } from './recorded.ts'

const asked = request({ tools: [getOrder] })

/** Requests that are made at a time. */
const atOnce = 50

/** What comes of each reply: an answer, or whatever was thrown. */
async function outcomesOf(
  fake: FakeProvider,
  vendor: (typeof recorded)[number]['vendor'],
  replies: Reply[],
): Promise<unknown[]> {
  const provider = vendorAt(fake.url, vendor)
  const outcomes: unknown[] = []
  while (outcomes.length < replies.length) {
    const some = replies.slice(outcomes.length, outcomes.length + atOnce)
    fake.queue(...some)
    outcomes.push(...(await Promise.all(some.map(() => ask(provider, asked).catch((error: unknown) => error)))))
  }
  return outcomes
}

/** Cuts are made at every byte with EVERY_BYTE=true, which takes minutes; else at those that are apart by a prime. */
const stride = process.env.EVERY_BYTE === 'true' ? 1 : 11

/** Where a body is cut; in any case inside of characters, and where lines end. */
function cutsOf(body: string): number[] {
  return [...Buffer.from(body)].flatMap((byte, at) =>
    at > 0 && (at % stride === 0 || byte >= 0x80 || byte === 0x0a || byte === 0x0d) ? [at] : [],
  )
}

test.each(recorded)('$vendor: $what: parted anywhere, it is the same answer', async recording => {
  await using fake = await startFakeProvider()
  const { vendor, body: stream, type } = recording
  const reply = { stream, ...(type && { type }) }

  const [whole, ...parted] = await outcomesOf(fake, vendor, [
    reply,
    ...cutsOf(stream).map(at => ({ ...reply, chunks: at })),
  ])

  const { text, end } = whole as Answer
  const calls = end.calls.map(({ name, arguments: args }) => ({ name, arguments: JSON.parse(args) as object }))
  expect({ text, calls, reason: end.reason }).toEqual({
    text: recording.text,
    calls: recording.calls,
    reason: recording.reason,
  })
  expect(parted.filter(outcome => !isDeepStrictEqual(outcome, whole))).toEqual([])
})

test.each([
  ['breaks off', false],
  ['ends in good order', true],
])('a stream that %s after any byte is a whole answer, or a failure to be tried again', async (_, endsWell) => {
  for (const { vendor, body: stream, type } of recorded) {
    await using fake = await startFakeProvider()
    const reply = { stream, ...(type && { type }) }

    const [whole, ...outcomes] = await outcomesOf(fake, vendor, [
      reply,
      ...cutsOf(stream).map(cut => ({ ...reply, cut, endsWell })),
    ])

    const failed = outcomes.filter(outcome => outcome instanceof ProviderFailed)
    const answers = outcomes.filter(outcome => !(outcome instanceof Error)) as Answer[]
    expect([vendor, failed.length + answers.length]).toEqual([vendor, outcomes.length])
    expect(failed.filter(({ code, isRetryable }) => code !== 'provider_error' || !isRetryable)).toEqual([])
    // Behind its last word there may be a record with numbers, and an end that says nothing more.
    const { text, end } = whole as Answer
    expect(answers.filter(answer => !isDeepStrictEqual([answer.text, answer.end], [text, end]))).toEqual([])
    expect(failed.length).toBeGreaterThan(outcomes.length / 2)
  }
})
