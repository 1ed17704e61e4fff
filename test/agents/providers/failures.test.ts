import { expect, test } from 'vitest'
import { startFakeProvider } from '../../support/fake-provider.ts'
import { events } from '../../support/vendor-forms.ts'
import { ask, failureOf, find, key, openAt, request, vendorAt } from './ask.ts'

const anthropicError = (type: string) => ({ type: 'error', error: { type, message: 'Sorry' }, request_id: 'req_1' })
const openaiError = (code: string, message = 'Sorry') => ({ error: { message, type: 'x', param: null, code } })
const geminiError = (status: string, details: object[] = []) => ({
  error: { code: 429, status, message: 'Sorry', details },
})
const retryInfo = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12s' }

test.each([
  ['anthropic', 529, {}, anthropicError('overloaded_error'), { code: 'provider_error', isRetryable: true }],
  [
    'anthropic',
    429,
    { 'retry-after': '7' },
    anthropicError('rate_limit_error'),
    { isRetryable: true, retryAfterMs: 7_000 },
  ],
  ['anthropic', 429, { 'retry-after': '21' }, anthropicError('rate_limit_error'), { isRetryable: false }],
  [
    'anthropic',
    401,
    {},
    anthropicError('authentication_error'),
    { code: 'provider_not_configured', isRetryable: false },
  ],
  ['anthropic', 403, {}, anthropicError('permission_error'), { code: 'provider_not_configured', isRetryable: false }],
  ['anthropic', 400, {}, anthropicError('invalid_request_error'), { code: 'provider_error', isRetryable: false }],
  ['anthropic', 413, {}, anthropicError('request_too_large'), { code: 'too_long', isRetryable: false }],
  ['responses', 500, {}, openaiError('server_error'), { code: 'provider_error', isRetryable: true }],
  ['responses', 429, {}, openaiError('rate_limit_exceeded'), { isRetryable: true, retryAfterMs: null }],
  ['responses', 429, {}, openaiError('insufficient_quota'), { code: 'provider_error', isRetryable: false }],
  ['responses', 400, {}, openaiError('context_length_exceeded'), { code: 'too_long', isRetryable: false }],
  ['responses', 404, {}, openaiError('model_not_found'), { code: 'provider_error', isRetryable: false }],
  ['chat', 408, {}, 'a page of a proxy', { code: 'provider_error', isRetryable: true }],
  ['chat', 409, {}, '', { isRetryable: true }],
  ['chat', 425, {}, '', { isRetryable: true }],
  ['chat', 503, { 'retry-after': 'soon' }, '', { isRetryable: true, retryAfterMs: null }],
  ['chat', 400, {}, { error: "This model's maximum context length is 8192 tokens" }, { code: 'too_long' }],
  ['chat', 302, { location: 'http://127.0.0.1:1/' }, '', { code: 'provider_error', isRetryable: false }],
  ['gemini', 429, {}, geminiError('RESOURCE_EXHAUSTED', [retryInfo]), { isRetryable: true, retryAfterMs: 12_000 }],
  ['gemini', 503, {}, geminiError('UNAVAILABLE'), { isRetryable: true }],
  ['kapa', 429, {}, { detail: 'Throttled' }, { isRetryable: true }],
] as const)('%s: %i %o %j means %o', async (name, status, headers, body, expected) => {
  await using fake = await startFakeProvider({ status, headers, body })

  const failure = await failureOf(ask(vendorAt(fake.url, name)))

  expect(failure).toMatchObject({ status, ...expected })
  expect(fake.requests).toHaveLength(1)
})

test('a wait until a date counts from the date of the answer', async () => {
  const headers = { date: 'Tue, 24 Nov 2026 09:30:00 GMT', 'retry-after': 'Tue, 24 Nov 2026 09:30:05 GMT' }
  await using fake = await startFakeProvider({ status: 503, headers, body: '' })

  expect((await failureOf(ask(vendorAt(fake.url, 'chat')))).retryAfterMs).toBe(5_000)
})

test.each([
  ['anthropic', { type: 'error', error: { type: 'overloaded_error' } }, true],
  ['anthropic', { type: 'error', error: { type: 'api_error' } }, true],
  ['anthropic', { type: 'error', error: { type: 'invalid_request_error' } }, false],
  ['responses', { type: 'error', code: 'server_error', message: 'Sorry' }, true],
  ['responses', { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded' } } }, true],
  ['responses', { type: 'response.failed', response: { error: { code: 'invalid_prompt' } } }, false],
  ['gemini', { type: 'x', error: { code: 503, status: 'UNAVAILABLE' } }, true],
  ['gemini', { type: 'x', error: { code: 400, status: 'INVALID_ARGUMENT' } }, false],
] as const)('%s: in the middle of an answer, %j may be tried again: %s', async (name, event, isRetryable) => {
  await using fake = await startFakeProvider({ stream: events([event]) })

  const failure = await failureOf(ask(vendorAt(fake.url, name)))

  expect(failure).toMatchObject({ code: 'provider_error', isRetryable })
})

test.each([
  [
    'responses',
    events([
      { type: 'response.refusal.delta', delta: 'No' },
      { type: 'response.completed', response: { output: [] } },
    ]),
  ],
  ['anthropic', events([{ type: 'message_delta', delta: { stop_reason: 'refusal' } }, { type: 'message_stop' }])],
  ['gemini', events([{ type: 'x', promptFeedback: { blockReason: 'SAFETY' } }])],
  ['gemini', events([{ type: 'x', candidates: [{ finishReason: 'PROHIBITED_CONTENT' }] }])],
  ['chat', events([{ type: 'x', choices: [{ delta: { refusal: 'No' }, finish_reason: 'stop' }] }])],
] as const)('%s: a refusal ends an answer as filtered', async (name, stream) => {
  await using fake = await startFakeProvider({ stream })

  expect((await ask(vendorAt(fake.url, name))).end.reason).toBe('filtered')
})

test('a call that gemini could not write is tried again', async () => {
  const candidate = { content: { parts: [{ text: 'x' }] }, finishReason: 'MALFORMED_FUNCTION_CALL' }
  await using fake = await startFakeProvider({ stream: events([{ type: 'x', candidates: [candidate] }]) })

  expect((await failureOf(ask(vendorAt(fake.url, 'gemini')))).isRetryable).toBe(true)
})

test('a pause of anthropic ends a step, with its blocks to go on from', async () => {
  await using fake = await startFakeProvider({ text: 'Searching', end: 'pause' })

  expect((await ask(vendorAt(fake.url, 'anthropic'))).end).toMatchObject({
    reason: 'pause',
    calls: [],
    body: [{ type: 'text', text: 'Searching' }],
  })
})

test('a server that is not there may be tried again, one whose name is none of HTTP may not', async () => {
  expect(await failureOf(ask(vendorAt('http://127.0.0.1:1', 'chat')))).toMatchObject({
    code: 'provider_error',
    status: null,
    isRetryable: true,
  })
  expect((await failureOf(ask(vendorAt('http://169.254.169.254', 'chat')))).isRetryable).toBe(false)
})

test('what is told of a failure has no key in it, nothing of what was asked, and at most 300 characters', async () => {
  const body = { error: { message: `Bad key ${key} `.padEnd(2_000, 'y') } }
  await using fake = await startFakeProvider({ text: 'A private answer' })
  fake.queue({ status: 401, body }, { status: 500, body }, { text: 'A private answer', cut: 300 })
  const provider = find(openAt(fake.url), 'anthropic')

  const messages = []
  for (let i = 0; i < 3; i++)
    messages.push((await failureOf(ask(provider, request({ system: 'A private prompt' })))).message)

  expect(messages[0]).toMatch(/^anthropic answered 401 req_1: .*Bad key \[secret\]/)
  for (const message of messages) {
    expect(message).not.toContain(key)
    expect(message).not.toMatch(/private|order 17|person-id/)
    expect(message.length).toBeLessThanOrEqual(300)
  }
})
