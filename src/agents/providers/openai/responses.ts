import { z } from 'zod'
import { Calls } from '../calls.ts'
import type { CallResult, ModelEvent, ModelRequest, Provider, Turn, UserPart } from '../provider.ts'
import { toOwnTurns, toResultText } from '../turns.ts'
import { failedMidway, unreadable } from '../wire/failure.ts'
import { count, list, loose, readFields, record, text } from '../wire/fields.ts'
import { Kept } from '../wire/kept.ts'
import { parseJson, type Vendor } from '../wire/vendor.ts'

const retryableErrors = new Set(['rate_limit_exceeded', 'server_error'])

const StreamEvent = z.object({
  type: text,
  delta: text,
  annotation: record({ type: text, url: text, title: text }),
  item: loose,
  response: record({
    output: list(z.record(z.string(), z.unknown())),
    usage: record({
      input_tokens: count,
      output_tokens: count,
      input_tokens_details: record({ cached_tokens: count }),
    }),
    incomplete_details: record({ reason: text }),
    error: record({ code: text }),
  }),
  code: text,
  error: record({ code: text }),
})
type StreamEvent = z.infer<typeof StreamEvent>

/** One element of an answer: a message, a call, reasoning, a search. */
type Item = { [name: string]: unknown }

/**
 * OpenAI's Responses API. Nothing is stored at the vendor, so a step's body is the model's whole output, including
 * encrypted reasoning, to be sent back unchanged. `isOpenAi`: true for OpenAI itself, which accepts members that other
 * servers may refuse.
 */
export function openAiResponses(vendor: Vendor, isOpenAi: boolean): Provider {
  return async function* (request, signal) {
    const { requestId, records } = await vendor.post('/responses', toBody(request, isOpenAi), signal)
    const items: Item[] = []
    const kept = new Kept(vendor.id)
    let isRefused = false
    for await (const data of records()) {
      const event = readFields(vendor.id, StreamEvent, parseJson(vendor.id, data))
      if (event.type === 'response.output_text.delta' && event.delta) yield { type: 'text', text: event.delta }
      else if (event.type === 'response.output_text.annotation.added') yield* toSource(event)
      else if (event.type === 'response.refusal.delta') isRefused = true
      else if (event.type === 'response.output_item.done' && event.item) {
        kept.add(data.length)
        items.push(event.item)
      } else if (event.type === 'response.failed' || event.type === 'error') throw failureOf(vendor.id, event)
      else if (event.type === 'response.completed' || event.type === 'response.incomplete') {
        yield* toUsage(event)
        yield { ...toEnd(event, { items, isRefused, turns: request.turns }), requestId }
        return
      }
    }
    throw unreadable(vendor.id, 'The answer breaks off')
  }
}

function toBody(request: ModelRequest, isOpenAi: boolean): object {
  const { model, system, turns, tools, webSearch, maxTokens, person, conversation } = request
  const declared: object[] = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
    strict: false,
  }))
  if (webSearch) declared.push({ type: 'web_search' })
  return {
    model,
    stream: true,
    store: false,
    instructions: system,
    input: toOwnTurns('openai', turns).flatMap(toInput),
    ...(declared.length > 0 && { tools: declared }),
    ...(isOpenAi && { include: ['reasoning.encrypted_content'] }),
    ...(maxTokens !== null && { max_output_tokens: maxTokens }),
    ...(isOpenAi && { safety_identifier: person, prompt_cache_key: conversation }),
  }
}

function toInput(turn: Turn): object[] {
  if (turn.role === 'user') return [{ role: 'user', content: turn.parts.map(toContent) }]
  if (turn.role === 'agent') return [{ role: 'assistant', content: turn.text }]
  if (turn.role === 'results') return turn.results.map(toOutput)
  if (!Array.isArray(turn.body)) throw new Error('A stored step of openai is not an array of items')
  return turn.body as Item[]
}

function toContent(part: UserPart): object {
  if ('text' in part) return { type: 'input_text', text: part.text }
  return { type: 'input_image', image_url: `data:${part.type};base64,${part.image.toString('base64')}` }
}

function toOutput(result: CallResult): object {
  return { type: 'function_call_output', call_id: result.id, output: toResultText(result) }
}

function* toSource({ annotation }: StreamEvent): Generator<ModelEvent, void> {
  const { type, url, title } = annotation ?? {}
  if (type === 'url_citation' && url !== undefined) yield { type: 'source', url, title: title ?? url }
}

function* toUsage({ response }: StreamEvent): Generator<ModelEvent, void> {
  const { usage } = response ?? {}
  if (usage === undefined) return
  const { input_tokens = 0, output_tokens = 0, input_tokens_details: details } = usage
  yield { type: 'usage', in: input_tokens, out: output_tokens, cached: details?.cached_tokens ?? 0 }
}

function toEnd(
  { type, response }: StreamEvent,
  { items, isRefused, turns }: { items: Item[]; isRefused: boolean; turns: readonly Turn[] },
): ModelEvent & { type: 'end' } {
  // Some other servers send the items as they come, and none at the end.
  const output = response?.output?.length ? response.output : items
  // Nothing is stored at the vendor, so reasoning without content would be looked for there in vain.
  const kept = output.filter(item => item.type !== 'reasoning' || typeof item.encrypted_content === 'string')
  const made = new Calls(turns)
  const body = kept.flatMap(item => (item.type === 'function_call' ? toSentCall(item, made) : [item]))
  const calls = made.list
  if (isRefused) return { type: 'end', reason: 'filtered', calls: [], body }
  if (type === 'response.completed') return { type: 'end', reason: calls.length > 0 ? 'calls' : 'stop', calls, body }
  const isFiltered = response?.incomplete_details?.reason === 'content_filter'
  return { type: 'end', reason: isFiltered ? 'filtered' : 'length', calls: [], body }
}

function toSentCall(item: Item, calls: Calls): Item[] {
  const { call_id, name, arguments: written } = item
  const added = calls.add({ id: call_id, name, arguments: toText(written) })
  if (added === null) return []
  return [{ ...item, call_id: added.sent.id, name: added.sent.name, arguments: added.sent.arguments }]
}

/** Other servers may give the arguments as an object. */
function toText(written: unknown): string {
  return typeof written === 'string' ? written : written === undefined ? '' : JSON.stringify(written)
}

function failureOf(vendor: string, { response, error, code }: StreamEvent): Error {
  const reason = response?.error?.code ?? error?.code ?? code ?? 'error'
  return failedMidway(vendor, reason, retryableErrors.has(reason))
}
