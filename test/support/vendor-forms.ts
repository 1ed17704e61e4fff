/** What a model is to say, in whatever form its vendor has. */
export interface Said {
  text?: string
  calls?: { id?: string; name: string; arguments: object }[]
  usage?: { in: number; out: number; cached?: number }
  /** Default: that it has stopped, or wants its calls to be made. */
  end?: 'length' | 'filtered' | 'pause'
  sources?: { url: string; title: string }[]
}

/** The same answer in the forms of the vendors: whole streams of server-sent events, or a JSON body. */
export const forms = { anthropic, responses, chat, gemini, kapa }

function anthropic(said: Said): string {
  const { text = '', calls = [], usage = defaultUsage, sources = [] } = said
  const { in: input, out, cached = 0 } = usage
  const blocks: { block: object; deltas: object[] }[] = []
  if (text !== '') {
    const words = toWords(text).map(word => ({ type: 'text_delta', text: word }))
    const citations = sources.map(source => ({
      type: 'citations_delta',
      citation: { type: 'web_search_result_location', ...source, encrypted_index: 'Eo8B', cited_text: '…' },
    }))
    blocks.push({ block: { type: 'text', text: '' }, deltas: [...words, ...citations] })
  }
  for (const [place, { id = `toolu_0${place + 1}`, name, arguments: input }] of calls.entries()) {
    const deltas = inHalves(JSON.stringify(input)).map(half => ({ type: 'input_json_delta', partial_json: half }))
    blocks.push({ block: { type: 'tool_use', id, name, input: {} }, deltas })
  }
  const counts = { input_tokens: input - cached, cache_read_input_tokens: cached, cache_creation_input_tokens: 0 }
  const reasons = { length: 'max_tokens', filtered: 'refusal', pause: 'pause_turn' }
  const stop_reason = said.end ? reasons[said.end] : calls.length > 0 ? 'tool_use' : 'end_turn'
  const message = { id: 'msg_1', role: 'assistant', content: [], stop_reason: null }
  return events([
    { type: 'message_start', message: { ...message, usage: { ...counts, output_tokens: 1 } } },
    { type: 'ping' },
    ...blocks.flatMap(({ block, deltas }, index) => [
      { type: 'content_block_start', index, content_block: block },
      ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: out } },
    { type: 'message_stop' },
  ])
}

function responses(said: Said): string {
  const { text = '', calls = [], usage = defaultUsage, sources = [] } = said
  const annotations = sources.map(source => ({ type: 'url_citation', start_index: 0, end_index: 1, ...source }))
  const content = [{ type: 'output_text', text, annotations }]
  const messages =
    text === '' ? [] : [{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content }]
  const functions = calls.map(({ id = 'call_1', name, arguments: args }, place) => ({
    type: 'function_call',
    id: `fc_${place + 1}`,
    call_id: id,
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  }))
  const output = [...messages, ...functions]
  const counts = { input_tokens: usage.in, input_tokens_details: { cached_tokens: usage.cached ?? 0 } }
  const response = { id: 'resp_1', output, usage: { ...counts, output_tokens: usage.out } }
  const reason = { length: 'max_output_tokens', filtered: 'content_filter', pause: '' }[said.end ?? 'pause']
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const list = [
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
    ...toWords(text).map(delta => ({ type: 'response.output_text.delta', ...place, delta })),
    ...annotations.map(annotation => ({ type: 'response.output_text.annotation.added', ...place, annotation })),
    ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    said.end
      ? { type: 'response.incomplete', response: { ...response, status: 'incomplete', incomplete_details: { reason } } }
      : { type: 'response.completed', response: { ...response, status: 'completed' } },
  ]
  return events(list.map((event, sequence_number) => ({ ...event, sequence_number })))
}

function chat(said: Said): string {
  const { text = '', calls = [], usage = defaultUsage } = said
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const tools = calls.flatMap(({ id = 'call_1', name, arguments: args }, index) => [
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    ...inHalves(JSON.stringify(args)).map(half => chunk({ tool_calls: [{ index, function: { arguments: half } }] })),
  ])
  const reasons = { length: 'length', filtered: 'content_filter', pause: 'stop' }
  const reason = said.end ? reasons[said.end] : calls.length > 0 ? 'tool_calls' : 'stop'
  const counts = { prompt_tokens: usage.in, completion_tokens: usage.out }
  const details = usage.cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: usage.cached } }
  const chunks = [
    chunk({ role: 'assistant', content: '' }),
    ...toWords(text).map(content => chunk({ content })),
    ...tools,
    chunk({}, reason),
    { id: 'c1', choices: [], usage: { ...counts, total_tokens: usage.in + usage.out, ...details } },
  ]
  return `${records(chunks)}data: [DONE]\n\n`
}

function gemini(said: Said): string {
  const { text = '', calls = [], usage = defaultUsage, sources = [] } = said
  const parts = calls.map(({ id, name, arguments: args }) => ({ functionCall: { ...(id && { id }), name, args } }))
  const finishReason = { length: 'MAX_TOKENS', filtered: 'SAFETY', pause: 'STOP' }[said.end ?? 'pause']
  const counts = {
    promptTokenCount: usage.in,
    cachedContentTokenCount: usage.cached ?? 0,
    candidatesTokenCount: usage.out,
  }
  const groundingChunks = sources.map(({ url, title }) => ({ web: { uri: url, title } }))
  return records([
    ...toWords(text).map(word => ({ candidates: [{ content: { role: 'model', parts: [{ text: word }] }, index: 0 }] })),
    {
      candidates: [
        {
          content: { role: 'model', parts },
          finishReason,
          index: 0,
          ...(sources.length > 0 && { groundingMetadata: { groundingChunks } }),
        },
      ],
      usageMetadata: counts,
      modelVersion: 'fake',
    },
  ])
}

function kapa({ text = '', sources = [] }: Said): string {
  return JSON.stringify({
    answer: text,
    thread_id: 'thread-1',
    question_answer_id: 'qa-1',
    is_uncertain: false,
    relevant_sources: sources.map(({ url, title }) => ({ source_url: url, title })),
  })
}

const defaultUsage: NonNullable<Said['usage']> = { in: 25, out: 7 }

/** Server-sent events named by their type. */
export function events(list: ({ type: string } & { [member: string]: unknown })[]): string {
  return list.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

/** Server-sent events without names. */
export function records(list: object[]): string {
  return list.map(record => `data: ${JSON.stringify(record)}\n\n`).join('')
}

function toWords(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? []
}

function inHalves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter(half => half !== '')
}
