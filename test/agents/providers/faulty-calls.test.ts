import { describe, expect, test } from 'vitest'
import { startFakeProvider } from '../../support/fake-provider.ts'
import { events, forms, records } from '../../support/vendor-forms.ts'
import { ask, getOrder, request, vendorAt } from './ask.ts'

type VendorName = 'anthropic' | 'responses' | 'chat' | 'gemini'

interface Written {
  id?: unknown
  name?: unknown
  /** As the model wrote them. */
  arguments: string
}

/** The stream of an answer with calls in whatever form the model wrote them. */
const streams: Record<VendorName, (calls: Written[]) => string> = {
  anthropic: calls =>
    events([
      { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } },
      ...calls.flatMap(({ id, name, arguments: written }, index) => [
        { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } },
        { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: written } },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]),
  responses: calls => {
    const output = calls.map(({ id, name, arguments: written }, place) => ({
      type: 'function_call',
      id: `fc_${place}`,
      call_id: id,
      name,
      arguments: written,
    }))
    return events([{ type: 'response.completed', response: { output } }])
  },
  chat: calls => {
    const tool_calls = calls.map(({ id, name, arguments: written }, index) => ({
      index,
      id,
      function: { name, arguments: written },
    }))
    return `${records([{ choices: [{ delta: { tool_calls }, finish_reason: 'tool_calls' }] }])}data: [DONE]\n\n`
  },
  // This vendor sends the arguments as JSON, so what is no JSON cannot come.
  gemini: calls => {
    const parts = calls.map(({ id, name, arguments: written }) => ({
      functionCall: { id, name, args: written === '' ? undefined : (JSON.parse(written) as unknown) },
    }))
    return records([{ candidates: [{ content: { parts }, finishReason: 'STOP' }] }])
  },
}

/** The calls that the next request sends back, and the ids to which their results belong. */
function sentBack(
  vendor: VendorName,
  body: unknown,
): { calls: { id: string; name: string; args: unknown }[]; results: string[] } {
  const said = body as { messages: any[]; input: any[]; contents: any[] } // oxlint-disable-line no-explicit-any
  if (vendor === 'anthropic') {
    const blocks = said.messages.flatMap(({ content }) => content)
    const calls = blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id, name, args: input }))
    return { calls, results: blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id: id }) => id) }
  }
  if (vendor === 'responses') {
    const calls = said.input.filter(({ type }) => type === 'function_call')
    const results = said.input.filter(({ type }) => type === 'function_call_output').map(({ call_id: id }) => id)
    return {
      calls: calls.map(({ call_id: id, name, arguments: args }) => ({ id, name, args: JSON.parse(args) })),
      results,
    }
  }
  if (vendor === 'chat') {
    const calls = said.messages.flatMap(({ tool_calls = [] }) => tool_calls)
    const results = said.messages.filter(({ role }) => role === 'tool').map(({ tool_call_id: id }) => id)
    return {
      calls: calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, args: JSON.parse(args) })),
      results,
    }
  }
  const parts = said.contents.flatMap(({ parts: some }) => some)
  const calls = parts
    .filter(({ functionCall }) => functionCall)
    .map(({ functionCall: { id, name, args } }) => ({ id, name, args }))
  return { calls, results: parts.filter(part => part.functionResponse).map(part => part.functionResponse.id) }
}

async function converse(vendor: VendorName, written: Written[]) {
  await using fake = await startFakeProvider()
  fake.queue({ stream: streams[vendor](written) }, { stream: forms[vendor]({ text: 'Done.' }) })
  const provider = vendorAt(fake.url, vendor)
  const asked = request({ tools: [getOrder] })
  const { end } = await ask(provider, asked)
  const turns = [
    ...asked.turns,
    {
      role: 'step' as const,
      provider: vendor === 'chat' || vendor === 'responses' ? 'openai' : vendor,
      body: JSON.parse(JSON.stringify(end.body)) as unknown,
      text: '',
      calls: end.calls,
    },
    { role: 'results' as const, results: end.calls.map(({ id, name }) => ({ id, name, text: 'x', isError: true })) },
  ]
  await ask(provider, { ...asked, turns })
  return { end, ...sentBack(vendor, fake.requests[1]!.body) }
}

const isJson = (text: string) => {
  try {
    return text === '' || JSON.parse(text) !== undefined
  } catch {
    return false
  }
}

describe.each(['anthropic', 'responses', 'chat', 'gemini'] as const)('%s', vendor => {
  const texts: [string, unknown][] = [
    ['', {}],
    ['{', {}],
    ['null', {}],
    ['[1]', {}],
    ['17', {}],
    ['"text"', {}],
    ['NaN', {}],
    ['{"id":NaN}', {}],
    ['{"id":"1","id":"2"}', { id: '2' }],
    ['{"id":"17"}', { id: '17' }],
  ]

  test.each(texts.filter(([text]) => vendor !== 'gemini' || isJson(text)))(
    'arguments %j go back as an object',
    async (text, expected) => {
      const { calls, results } = await converse(vendor, [{ id: 'a', name: 'get_order', arguments: text }])

      expect(calls).toEqual([{ id: 'a', name: 'get_order', args: expected }])
      expect(results).toEqual(['a'])
    },
  )

  test.each<[string, Written[]]>([
    [
      'of one id',
      [{ id: 'a' }, { id: 'a' }, { id: 'a' }].map(call => ({ ...call, name: 'get_order', arguments: '{}' })),
    ],
    ['without a name', [{ id: 'a', arguments: '{}' }]],
    ['with a name that no tool can have', [{ id: 'a', name: 'get order/17', arguments: '{}' }]],
    ['with a name as long as a text', [{ id: 'a', name: 'x'.repeat(1_000), arguments: '{}' }]],
  ])('calls %s go back with ids and names of their own, and each has its result', async (_, written) => {
    const { end, calls, results } = await converse(vendor, written)

    expect(calls).toHaveLength(written.length)
    expect(new Set(calls.map(({ id }) => id)).size).toBe(written.length)
    expect(results).toEqual(calls.map(({ id }) => id))
    for (const { name } of calls) expect(name).toMatch(/^[\w-]{1,64}$/)
    expect(end.calls.map(({ id }) => id)).toEqual(calls.map(({ id }) => id))
  })

  test('of a thousand calls some are kept', async () => {
    const written = Array.from({ length: 1_000 }, (_, i) => ({ id: `c${i}`, name: 'get_order', arguments: '{}' }))

    const { end, calls } = await converse(vendor, written)

    expect([end.calls.length, calls.length]).toEqual([64, 64])
  })
})
