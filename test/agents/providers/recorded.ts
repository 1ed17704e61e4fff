// What vendors send, as it comes from them: with members that nobody reads, with thoughts, pings, and more than one call.

interface Recorded {
  vendor: 'anthropic' | 'responses' | 'chat' | 'gemini' | 'kapa'
  /** What it is an example of. */
  what: string
  body: string
  /** Default: server-sent events. */
  type?: string
  text: string
  calls: { name: string; arguments: object }[]
  reason: string
}

const event = (data: { type: string } & Record<string, unknown>) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const record = (data: object, end = '\n\n') => `data: ${JSON.stringify(data)}${end}`

const block = (index: number, content_block: object, ...deltas: object[]) => [
  event({ type: 'content_block_start', index, content_block }),
  ...deltas.map(delta => event({ type: 'content_block_delta', index, delta })),
  event({ type: 'content_block_stop', index }),
]

const anthropic: Recorded = {
  vendor: 'anthropic',
  what: 'thoughts, text and a call',
  body: [
    event({
      type: 'message_start',
      message: {
        id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
        type: 'message',
        role: 'assistant',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 472, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 2 },
      },
    }),
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'Größe 17…' },
      { type: 'signature_delta', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h' },
    ),
    event({ type: 'ping' }),
    ...block(
      1,
      { type: 'text', text: '' },
      { type: 'text_delta', text: 'Schau’n ' },
      { type: 'text_delta', text: 'wir: 😀' },
    ),
    ...block(
      2,
      { type: 'tool_use', id: 'toolu_01T1x1fJ34qAmk2tNTrN7Up6', name: 'get_order', input: {} },
      { type: 'input_json_delta', partial_json: '' },
      { type: 'input_json_delta', partial_json: '{"id": "1' },
      { type: 'input_json_delta', partial_json: '7", "note": "größer"}' },
    ),
    event({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 89 },
    }),
    event({ type: 'message_stop' }),
  ].join(''),
  text: 'Schau’n wir: 😀',
  calls: [{ name: 'get_order', arguments: { id: '17', note: 'größer' } }],
  reason: 'calls',
}

const message = {
  id: 'msg_67ca',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hi größer 😀', annotations: [] }],
}
const call = { id: 'fc_67ca', type: 'function_call', status: 'completed', call_id: 'call_u', name: 'get_order' }
const reasoning = { id: 'rs_67ca', type: 'reasoning', summary: [], encrypted_content: 'gAAAAABn' }
const place = { item_id: 'msg_67ca', output_index: 1, content_index: 0 }

const responses: Recorded = {
  vendor: 'responses',
  what: 'reasoning, text and a call',
  body: [
    { type: 'response.created', response: { id: 'resp_67c9', object: 'response', status: 'in_progress', output: [] } },
    { type: 'response.in_progress', response: { id: 'resp_67c9', status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: reasoning },
    { type: 'response.output_item.done', output_index: 0, item: reasoning },
    { type: 'response.output_text.delta', ...place, delta: 'Hi größer', obfuscation: 'aXk9' },
    { type: 'response.output_text.delta', ...place, delta: ' 😀', obfuscation: 'Q' },
    { type: 'response.output_text.done', ...place, text: 'Hi größer 😀' },
    { type: 'response.output_item.done', output_index: 1, item: message },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_67ca', output_index: 2, delta: '{"id":' },
    { type: 'response.function_call_arguments.done', item_id: 'fc_67ca', output_index: 2, arguments: '{"id":"17"}' },
    {
      type: 'response.completed',
      response: {
        id: 'resp_67c9',
        status: 'completed',
        output: [reasoning, message, { ...call, arguments: '{"id":"17"}' }],
        usage: { input_tokens: 75, input_tokens_details: { cached_tokens: 0 }, output_tokens: 20 },
      },
    },
  ]
    .map((data, sequence_number) => event({ ...data, sequence_number }))
    .join(''),
  text: 'Hi größer 😀',
  calls: [{ name: 'get_order', arguments: { id: '17' } }],
  reason: 'calls',
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-123',
  object: 'chat.completion.chunk',
  system_fingerprint: 'fp_44709d6fcb',
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
})

const chat: Recorded = {
  vendor: 'chat',
  what: 'two calls at once, with lines ended as on Windows',
  body: [
    record(chunk({ role: 'assistant', content: '' }), '\r\n\r\n'),
    record(chunk({ content: 'Grüße' }), '\r\n\r\n'),
    ': OPENROUTER PROCESSING\r\n\r\n',
    ...[0, 1].flatMap(index => [
      record(
        chunk({
          tool_calls: [
            { index, id: `call_${index}`, type: 'function', function: { name: 'get_order', arguments: '' } },
          ],
        }),
        '\r\n\r\n',
      ),
      record(chunk({ tool_calls: [{ index, function: { arguments: '{"id":"' } }] }), '\r\n\r\n'),
      record(chunk({ tool_calls: [{ index, function: { arguments: `${index}"}` } }] }), '\r\n\r\n'),
    ]),
    record(chunk({}, 'tool_calls'), '\r\n\r\n'),
    record({ id: 'chatcmpl-123', choices: [], usage: { prompt_tokens: 24, completion_tokens: 58 } }, '\r\n\r\n'),
    'data: [DONE]\r\n\r\n',
  ].join(''),
  text: 'Grüße',
  calls: [0, 1].map(index => ({ name: 'get_order', arguments: { id: String(index) } })),
  reason: 'calls',
}

const plain: Recorded = {
  vendor: 'chat',
  what: 'no stream at all',
  type: 'application/json',
  body: JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Grüße 😀' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 24, completion_tokens: 5 },
  }),
  text: 'Grüße 😀',
  calls: [],
  reason: 'stop',
}

const part = (parts: object[], more: object = {}) => ({ candidates: [{ content: { role: 'model', parts }, ...more }] })

const gemini: Recorded = {
  vendor: 'gemini',
  what: 'thoughts, text and a signed call',
  body: [
    record(part([{ text: 'Let me think', thought: true }], { index: 0 }), '\r\n\r\n'),
    record({ ...part([{ text: 'Größe ' }], { index: 0 }), modelVersion: 'gemini-3-pro' }, '\r\n\r\n'),
    record({ ...part([{ text: '😀' }], { index: 0 }), responseId: 'x' }, '\r\n\r\n'),
    record(
      {
        ...part([{ functionCall: { name: 'get_order', args: { id: '17' } }, thoughtSignature: 'CqMC' }], {
          finishReason: 'STOP',
        }),
        usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 9, thoughtsTokenCount: 40 },
      },
      '\r\n\r\n',
    ),
  ].join(''),
  text: 'Größe 😀',
  calls: [{ name: 'get_order', arguments: { id: '17' } }],
  reason: 'calls',
}

const kapa: Recorded = {
  vendor: 'kapa',
  what: 'an answer with a source',
  type: 'application/json',
  body: JSON.stringify({
    answer: 'Grüße 😀',
    thread_id: 'b7d1',
    question_answer_id: 'c0de',
    is_uncertain: false,
    relevant_sources: [{ source_url: 'https://example.com/a', title: 'A page' }],
  }),
  text: 'Grüße 😀',
  calls: [],
  reason: 'stop',
}

export const recorded: Recorded[] = [anthropic, responses, chat, plain, gemini, kapa]
