import { expect, test } from 'vitest'
import { startFakeProvider } from '../../support/fake-provider.ts'
import { forms, records } from '../../support/vendor-forms.ts'
import { ask, failureOf, getOrder, request, vendorAt } from './ask.ts'

const asked = request({ tools: [getOrder] })
const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const done = 'data: [DONE]\n\n'

test.each([
  [
    'without an index',
    [
      { id: 'a', function: { name: 'f', arguments: '{}' } },
      { id: 'b', function: { name: 'g', arguments: '{}' } },
    ],
  ],
  [
    'whole in one chunk',
    [
      { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } },
      { index: 1, id: 'b', function: { name: 'g', arguments: '{}' } },
    ],
  ],
  [
    'all under one index',
    [
      { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } },
      { index: 0, id: 'b', function: { name: 'g', arguments: '{}' } },
    ],
  ],
  [
    'with objects as arguments',
    [
      { id: 'a', function: { name: 'f', arguments: {} } },
      { id: 'b', function: { name: 'g', arguments: {} } },
    ],
  ],
])('calls %s are understood', async (_name, calls) => {
  await using fake = await startFakeProvider({ stream: records([chunk({ tool_calls: calls }, 'tool_calls')]) + done })

  expect((await ask(vendorAt(fake.url, 'chat'), asked)).end).toMatchObject({
    reason: 'calls',
    calls: [
      { id: 'a', name: 'f', arguments: '{}' },
      { id: 'b', name: 'g', arguments: '{}' },
    ],
  })
})

test('calls without ids get some, which no call of an earlier step has', async () => {
  const call = { function: { name: 'get_order', arguments: '{}' } }
  await using fake = await startFakeProvider({ stream: records([chunk({ tool_calls: [call, call] }, 'stop')]) + done })
  const provider = vendorAt(fake.url, 'chat')

  const first = await ask(provider, asked)
  const step = { role: 'step', provider: 'openai', body: first.end.body, text: '', calls: first.end.calls } as const
  const second = await ask(provider, { ...asked, turns: [...asked.turns, step] })

  expect(first.end.calls.map(({ id }) => id)).toEqual(['call_1', 'call_2'])
  expect(second.end.calls.map(({ id }) => id)).toEqual(['call_3', 'call_4'])
})

test('calls are made although a server says that the model stopped', async () => {
  const call = { index: 0, id: 'a', function: { name: 'get_order', arguments: '{}' } }
  await using fake = await startFakeProvider({ stream: records([chunk({ tool_calls: [call] }, 'stop')]) + done })

  expect((await ask(vendorAt(fake.url, 'chat'), asked)).end.reason).toBe('calls')
})

test.each([
  ['no usage and no end', records([chunk({ content: 'Hi' }), chunk({}, 'stop')])],
  ['an end without a reason', records([chunk({ content: 'Hi' })]) + done],
  ['reasoning', records([chunk({ reasoning: 'Hm' }), chunk({ reasoning_content: 'Hm', content: 'Hi' }, 'stop')])],
  [
    'null in the place of text',
    records([chunk({ content: null, tool_calls: null }), chunk({ content: 'Hi' }, 'stop')]),
  ],
])('an answer with %s is understood', async (_name, stream) => {
  await using fake = await startFakeProvider({ stream })

  expect((await ask(vendorAt(fake.url, 'chat'))).text).toBe('Hi')
})

test('a server that does not stream is understood', async () => {
  const tool_calls = [{ id: 'a', type: 'function', function: { name: 'get_order', arguments: '{}' } }]
  const message = { role: 'assistant', content: 'Hi', tool_calls }
  const body = {
    choices: [{ message, finish_reason: 'tool_calls' }],
    usage: { prompt_tokens: 3, completion_tokens: 4 },
  }
  await using fake = await startFakeProvider({ status: 200, body })

  expect(await ask(vendorAt(fake.url, 'chat'), asked)).toMatchObject({
    text: 'Hi',
    usage: { in: 3, out: 4, cached: 0 },
    end: { reason: 'calls', calls: [{ id: 'a', name: 'get_order', arguments: '{}' }] },
  })
})

test('what a server puts beside a call goes back with it', async () => {
  const extra_content = { google: { thought_signature: 'CsUB' } }
  const call = { index: 0, id: 'a', type: 'function', function: { name: 'get_order', arguments: '{}' }, extra_content }
  await using fake = await startFakeProvider({ stream: records([chunk({ tool_calls: [call] }, 'tool_calls')]) + done })

  const { index: _index, ...kept } = call
  expect((await ask(vendorAt(fake.url, 'chat'), asked)).end.body).toEqual({
    role: 'assistant',
    content: '',
    tool_calls: [kept],
  })
})

test('a server that does not know stream_options is asked without them, then and later', async () => {
  await using fake = await startFakeProvider({ text: 'Hi' })
  fake.queue({ status: 400, body: { error: { message: "Unknown field 'stream_options'" } } })
  const provider = vendorAt(fake.url, 'chat')

  await ask(provider, asked)
  await ask(provider, asked)

  expect(fake.requests.map(({ body }) => ['stream_options' in body, 'tools' in body])).toEqual([
    [true, true],
    [false, true],
    [false, true],
  ])
})

test('a server that refuses for another reason is asked once, and one that refuses tools twice', async () => {
  await using fake = await startFakeProvider({ status: 400, body: { error: 'the model does not support tools' } })
  fake.queue({ status: 400, body: { error: 'no pictures, please' } })
  const provider = vendorAt(fake.url, 'chat')

  expect((await failureOf(ask(provider))).status).toBe(400)
  expect(fake.requests).toHaveLength(1)
  expect((await failureOf(ask(provider))).status).toBe(400)
  expect(fake.requests).toHaveLength(3)
})

test('an error in the middle of an answer is a failure', async () => {
  const text = records([chunk({ content: 'Half' })])
  await using fake = await startFakeProvider({ text: 'Hi' })
  fake.queue(
    { stream: text + records([{ error: { message: 'CUDA out of memory', code: 500 } }]) },
    { stream: text + records([{ error: { message: 'bad request', code: 400 } }]) },
  )
  const provider = vendorAt(fake.url, 'chat')

  expect((await failureOf(ask(provider))).isRetryable).toBe(true)
  expect((await failureOf(ask(provider))).isRetryable).toBe(false)
})

test('web search has no effect, and that is said', async () => {
  await using fake = await startFakeProvider({ stream: forms.chat({ text: 'Hi' }) })

  await ask(vendorAt(fake.url, 'chat'), request({ webSearch: true }))

  expect(fake.requests[0]!.body).not.toHaveProperty('tools')
})
