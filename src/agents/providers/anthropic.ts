import { z } from 'zod'
import { parseArguments } from './call-arguments.ts'
import { Calls } from './calls.ts'
import { named, providerKind } from './kind.ts'
import type { CallResult, ModelEvent, ModelRequest, Provider, Turn, UserPart } from './provider.ts'
import { toOwnTurns } from './turns.ts'
import { failedMidway, unreadable } from './wire/failure.ts'
import { count, loose, readFields, record, text } from './wire/fields.ts'
import { Kept } from './wire/kept.ts'
import { parseJson, type Vendor } from './wire/vendor.ts'

/** The most searches of one answer: the example in Anthropic's documentation. */
const searchLimit = 5

const retryableErrors = new Set(['overloaded_error', 'api_error', 'rate_limit_error', 'timeout_error'])

const StreamEvent = z.object({
  type: text,
  index: count,
  message: record({ usage: z.unknown().optional() }),
  content_block: loose,
  delta: record({
    type: text,
    text,
    partial_json: text,
    thinking: text,
    signature: text,
    citation: loose,
    stop_reason: text,
  }),
  usage: z.unknown().optional(),
  error: record({ type: text }),
})

const Usage = z.object({
  input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  output_tokens: count,
})

/** A content block as it came, with the deltas applied. */
type Block = Record<string, unknown>

export const anthropic = providerKind({
  id: 'anthropic',
  url: 'https://api.anthropic.com',
  settings: {
    version: {
      name: 'ANTHROPIC_VERSION',
      default: '2023-06-01',
      meaning: 'Version of its API',
      schema: z.string().regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date like 2023-06-01'),
    },
  },
  open({ connect, key, own, maxTokens }) {
    const vendor = connect({ ...named('x-api-key', key), 'anthropic-version': own.version })
    return { answer: messagesApi(vendor, maxTokens), takesImages: true, takesTools: true }
  },
})

/**
 * Anthropic's Messages API. A step's body is the array of content blocks, including thinking with its signatures and
 * the vendor's own searches, which have to be sent back unchanged. `maxTokens`: the answer limit of agents without one,
 * because the API requires a number.
 */
function messagesApi(vendor: Vendor, maxTokens: number): Provider {
  return async function* (request, signal) {
    const answer = await vendor.post('/v1/messages', toBody(request, maxTokens), signal)
    const message = new Message(vendor.id, request.turns)
    for await (const data of answer.records()) {
      yield* message.read(parseJson(vendor.id, data))
      if (message.isComplete) break
    }
    if (!message.isComplete) throw unreadable(vendor.id, 'The answer breaks off')
    yield { ...message.end(), requestId: answer.requestId }
  }
}

function toBody(request: ModelRequest, maxTokens: number): object {
  const { model, system, tools, webSearch, person } = request
  const declared: object[] = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  }))
  if (webSearch) declared.push({ type: 'web_search_20250305', name: 'web_search', max_uses: searchLimit })
  return {
    model,
    max_tokens: request.maxTokens ?? maxTokens,
    stream: true,
    system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }],
    messages: toMessages(request),
    ...(declared.length > 0 && { tools: declared }),
    metadata: { user_id: person },
  }
}

function toMessages({ turns, mayCall }: ModelRequest): object[] {
  const messages: { role: 'user' | 'assistant'; content: unknown[] }[] = []
  const add = (role: 'user' | 'assistant', content: unknown[]) => {
    const last = messages.at(-1)
    // Roles alternate, so text after results goes into their message.
    if (last?.role === role) last.content.push(...content)
    else messages.push({ role, content })
  }
  // Without tools, the API refuses calls of earlier steps and their results: these become text.
  for (const turn of toOwnTurns(mayCall === false ? null : 'anthropic', turns)) {
    if (turn.role === 'user') add('user', turn.parts.map(toContent))
    else if (turn.role === 'agent') add('assistant', [{ type: 'text', text: turn.text }])
    else if (turn.role === 'step') add('assistant', toReplay(turn.body))
    else add('user', turn.results.map(toResult))
  }
  return messages
}

/** The stored blocks without empty texts, which the API sometimes writes but refuses to read. */
function toReplay(body: unknown): unknown[] {
  if (!Array.isArray(body)) throw new Error('A stored step of anthropic is not an array of blocks')
  return (body as Block[]).filter(({ type, text }) => type !== 'text' || text !== '')
}

function toContent(part: UserPart): object {
  if ('text' in part) return { type: 'text', text: part.text }
  return {
    type: 'image',
    source: { type: 'base64', media_type: part.type, data: part.image.toString('base64') },
  }
}

function toResult({ id, text, isError, images = [] }: CallResult): object {
  const parts: UserPart[] = [...(text === '' ? [] : [{ text }]), ...images]
  return { type: 'tool_result', tool_use_id: id, is_error: isError, content: parts.map(toContent) }
}

/** One answer while it arrives. */
class Message {
  isComplete = false
  readonly #vendor: string
  readonly #turns: readonly Turn[]
  readonly #kept: Kept
  readonly #blocks = new Map<number, Block>()
  /** JSON of the tools' input, by block. */
  readonly #inputs = new Map<number, string>()
  #usage: z.infer<typeof Usage> = {}
  #stopReason: string | undefined

  constructor(vendor: string, turns: readonly Turn[]) {
    this.#vendor = vendor
    this.#turns = turns
    this.#kept = new Kept(vendor)
  }

  *read(json: unknown): Generator<ModelEvent, void> {
    const { type, index = 0, message, content_block, delta, usage, error } = readFields(this.#vendor, StreamEvent, json)
    if (type === 'message_start') yield this.#count(message?.usage)
    else if (type === 'content_block_start') yield* this.#begin(index, content_block ?? {})
    else if (type === 'content_block_delta') yield* this.#apply(index, delta ?? {})
    else if (type === 'message_delta') {
      this.#stopReason = delta?.stop_reason ?? this.#stopReason
      yield this.#count(usage)
    } else if (type === 'message_stop') this.isComplete = true
    else if (type === 'error') {
      const code = error?.type ?? 'error'
      throw failedMidway(this.#vendor, code, retryableErrors.has(code))
    }
  }

  end(): ModelEvent & { type: 'end' } {
    const calls = new Calls(this.#turns)
    const body = [...this.#blocks]
      .sort(([a], [b]) => a - b)
      .flatMap(([index, block]) => {
        return block.type === 'tool_use' ? this.#toSentCall(index, block, calls) : [block]
      })
    const reason = toReason(this.#stopReason)
    return { type: 'end', reason, calls: reason === 'calls' ? calls.list : [], body }
  }

  *#begin(index: number, block: Block): Generator<ModelEvent, void> {
    this.#kept.add(JSON.stringify(block).length)
    this.#blocks.set(index, block)
    if (block.type === 'text' && typeof block.text === 'string') yield { type: 'text', text: block.text }
  }

  *#apply(index: number, delta: NonNullable<z.infer<typeof StreamEvent>['delta']>): Generator<ModelEvent, void> {
    const block = this.#blocks.get(index)
    if (block === undefined) return
    const { thinking = '', signature = '', partial_json = '', citation } = delta
    this.#kept.add(thinking.length + signature.length + partial_json.length)
    if (citation !== undefined) this.#kept.add(JSON.stringify(citation).length)
    if (delta.type === 'text_delta' && delta.text !== undefined) {
      block.text = join(block.text, delta.text)
      yield { type: 'text', text: delta.text }
    } else if (delta.type === 'thinking_delta') block.thinking = join(block.thinking, delta.thinking)
    else if (delta.type === 'signature_delta') block.signature = join(block.signature, delta.signature)
    else if (delta.type === 'input_json_delta') {
      this.#inputs.set(index, join(this.#inputs.get(index), delta.partial_json))
    } else if (delta.type === 'citations_delta' && delta.citation !== undefined) {
      if (Array.isArray(block.citations)) block.citations.push(delta.citation)
      else block.citations = [delta.citation]
      const { type, url, title } = delta.citation
      if (type === 'web_search_result_location' && typeof url === 'string') {
        yield { type: 'source', url, title: typeof title === 'string' ? title : url }
      }
    }
  }

  /** Input that is no object cannot be sent back; the call keeps the text, and its result names the fault. */
  #toSentCall(index: number, block: Block, calls: Calls): Block[] {
    const { id, name, input } = block
    const written = this.#inputs.get(index) || (input === undefined ? '' : JSON.stringify(input))
    const added = calls.add({ id, name, arguments: written })
    if (added === null) return []
    return [{ ...block, id: added.sent.id, name: added.sent.name, input: parseArguments(added.sent.arguments) ?? {} }]
  }

  /** Counts are totals; a later record may have only some of them. */
  #count(usage: unknown): ModelEvent {
    const { success, data } = Usage.safeParse(usage)
    if (success) this.#usage = { ...this.#usage, ...withoutGaps(data) }
    const { input_tokens = 0, cache_read_input_tokens = 0, cache_creation_input_tokens = 0 } = this.#usage
    return {
      type: 'usage',
      in: input_tokens + cache_read_input_tokens + cache_creation_input_tokens,
      out: this.#usage.output_tokens ?? 0,
      cached: cache_read_input_tokens,
    }
  }
}

function join(before: unknown, more: string | undefined): string {
  return `${typeof before === 'string' ? before : ''}${more ?? ''}`
}

function withoutGaps<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>
}

function toReason(stopReason: string | undefined): 'stop' | 'calls' | 'length' | 'filtered' | 'pause' {
  switch (stopReason) {
    case 'tool_use':
      return 'calls'
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length'
    case 'pause_turn':
      return 'pause'
    case 'refusal':
      return 'filtered'
    default:
      return 'stop'
  }
}
