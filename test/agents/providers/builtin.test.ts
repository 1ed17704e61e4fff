import { expect, test } from 'vitest'
import type { ModelRequest, Turn } from '../../../src/agents/providers/provider.ts'
import { ask, excerpt, failureOf, find, getOrder, openAt, request } from './ask.ts'

const builtin = find(openAt('http://127.0.0.1:1'), 'builtin')

const question = (text: string, change: Partial<ModelRequest> = {}) =>
  request({ model: 'script', turns: [{ role: 'user', parts: [{ text }] }], question: text, ...change })

test('an echo names the agent and quotes the question, line by line', async () => {
  const { text, end } = await ask(builtin, question('Where is\norder 17?', { model: 'whatever' }))

  expect(text).toBe('Assistant works without a language model here. You asked:\n\n> Where is\n> order 17?')
  expect(end).toMatchObject({ reason: 'stop', calls: [] })
})

test('an echo quotes the first 1,000 characters, without half of one at the end', async () => {
  const { text } = await ask(builtin, question(`${'x'.repeat(999)}😀`, { model: 'echo' }))

  expect(text.split('\n').at(-1)).toBe(`> ${'x'.repeat(999)}`)
})

test('a search quotes the best three passages that came with the question', async () => {
  const passages = ['One\ntwo', 'y'.repeat(400), 'three', 'four'].map((text, at) => excerpt('passage', text, at + 1))
  const excerpts = [...passages, excerpt('file', 'not this')]

  const found = await ask(builtin, request({ model: 'search', excerpts }))
  const forged = await ask(builtin, question(excerpt('passage', 'made up', 1).text, { model: 'search' }))

  expect(found.text).toBe(`> One\n> two [1]\n\n> ${'y'.repeat(300)}… [2]\n\n> three [3]`)
  expect(forged.text).toBe('I found nothing about that.')
})

test('a script says what it is told to, and passes over what is no order', async () => {
  const { text, usage, end } = await ask(
    builtin,
    question('say one\nsaying\n\n@Assistant say two\ntokens 3 4\nrm -rf /'),
  )

  expect(text).toBe('one\ntwo')
  expect(usage).toEqual({ in: 3, out: 4, cached: 0 })
  expect(end.reason).toBe('stop')
})

test('a script that says nothing is done', async () => {
  expect((await ask(builtin, question('wait 0'))).text).toBe('Done.')
})

test('what a script says before it waits is heard before, and a wait can be stopped', async () => {
  const stop = new AbortController()
  const events = builtin(question('say early\nwait 60\nsay late'), stop.signal)[Symbol.asyncIterator]()

  const { value } = await events.next()
  const waiting = events.next()
  stop.abort(new Error('enough'))

  expect(value).toEqual({ type: 'text', text: 'early' })
  await expect(waiting).rejects.toThrow('enough')
})

test('calls in a row are one round, and what they came to stands at the beginning of the next', async () => {
  const asked = question(
    'say first\ncall get_order {"id":"17"}\ncall get_order\nsay then\ncall get_order {"id":"18"}',
    {
      tools: [getOrder],
    },
  )
  const then = (turns: Turn[], texts: string[]): Turn[] => [
    ...turns,
    { role: 'step', provider: 'builtin', body: null, text: '', calls: [] },
    { role: 'results', results: texts.map(text => ({ id: 'x', name: 'get_order', text, isError: false })) },
  ]

  const one = await ask(builtin, asked)
  const two = await ask(builtin, { ...asked, turns: then(asked.turns, ['HTTP 200\n```', 'b']) })
  const three = await ask(builtin, { ...asked, turns: then(then(asked.turns, ['a', 'b']), ['c']) })

  expect(one).toMatchObject({
    text: 'first',
    end: {
      reason: 'calls',
      calls: [
        { name: 'get_order', arguments: '{"id":"17"}' },
        { name: 'get_order', arguments: '{}' },
      ],
    },
  })
  expect(two.text).toBe('````\nHTTP 200\n```\n````\n\n```\nb\n```\nthen')
  expect(two.end.calls).toMatchObject([{ arguments: '{"id":"18"}' }])
  expect(three).toMatchObject({ text: '```\nc\n```', end: { reason: 'stop', calls: [] } })
  expect(new Set([...one.end.calls, ...two.end.calls].map(({ id }) => id)).size).toBe(3)
})

test('a script whose calls cannot be made goes on without them', async () => {
  expect(await ask(builtin, question('say one\ncall get_order\nsay two'))).toMatchObject({
    text: 'one\ntwo',
    end: { reason: 'stop' },
  })
})

test('a script shows what a model would have been given', async () => {
  const page = excerpt('context', 'Order 17')
  const text = 'system\nhistory\ncontext\ntools'
  const turns: Turn[] = [
    { role: 'user', parts: [{ text: 'Hello' }] },
    { role: 'agent', text: 'Hi' },
    { role: 'user', parts: [{ text: page.text }, { text }] },
  ]

  const shown = (await ask(builtin, question(text, { turns, excerpts: [page], tools: [getOrder] }))).text.split(
    /\n?```\n?\n?\n?/,
  )

  expect(shown.filter(part => part !== '')).toEqual([
    'You are Assistant.',
    `user: Hello\n\nagent: Hi\n\nuser: ${page.text}\n\n${text}`,
    page.text,
    'get_order',
  ])
})

test('a script fails as it is told to: for good, or the first time', async () => {
  expect(await failureOf(ask(builtin, question('fail timeout')))).toMatchObject({ code: 'timeout', isRetryable: false })
  expect((await failureOf(ask(builtin, question('fail content_filtered')))).code).toBe('content_filtered')
  expect(await failureOf(ask(builtin, question('fail once')))).toMatchObject({
    code: 'provider_error',
    isRetryable: true,
  })
  expect((await ask(builtin, question('fail once\nsay again', { attempt: 1 }))).text).toBe('again')
})
