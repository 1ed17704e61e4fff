import { z } from 'zod'
import { Calls } from '../calls.ts'
import type { ModelEvent, Turn } from '../provider.ts'
import { Kept } from '../wire/kept.ts'
import { failedMidway, unreadable } from '../wire/failure.ts'
import { count, list, readFields, record, text, tolerant } from '../wire/fields.ts'

const ToolCall = z.looseObject({
  index: count,
  id: text,
  function: tolerant(z.looseObject({ name: text, arguments: tolerant(z.union([z.string(), z.looseObject({})])) })),
})

const Message = record({
  content: text,
  refusal: text,
  tool_calls: list(ToolCall),
})

const Chunk = z.object({
  choices: list(z.object({ delta: Message, message: Message, finish_reason: text })),
  usage: record({
    prompt_tokens: count,
    completion_tokens: count,
    prompt_tokens_details: record({ cached_tokens: count }),
  }),
  error: z.unknown().optional(),
})

/** A call, with all members that the server put beside its name and arguments, to be sent back. */
interface PendingCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** One answer, streamed or whole. */
export class ChatAnswer {
  readonly #vendor: string
  readonly #turns: readonly Turn[]
  readonly #kept: Kept
  readonly #calls: PendingCall[] = []
  /** Calls that arrive in pieces, by index. */
  readonly #byIndex = new Map<number, PendingCall>()
  #text = ''
  #isRefused = false
  #isDone = false
  #finish: string | undefined

  /** `turns`: the conversation so far. */
  constructor(vendor: string, turns: readonly Turn[]) {
    this.#vendor = vendor
    this.#turns = turns
    this.#kept = new Kept(vendor)
  }

  /** True where a finish reason or the end of the stream has arrived; otherwise the answer was cut. */
  get isComplete(): boolean {
    return this.#isDone || this.#finish !== undefined
  }

  /** Handles the end of the stream. */
  done(): void {
    this.#isDone = true
  }

  *read(json: unknown): Generator<ModelEvent, void> {
    const { choices, usage, error } = readFields(this.#vendor, Chunk, json)
    if (error !== undefined && error !== null) throw this.#failureOf(error)
    const [choice] = choices ?? []
    if (choice !== undefined) yield* this.#add(choice)
    if (usage === undefined) return
    const { prompt_tokens = 0, completion_tokens = 0, prompt_tokens_details: details } = usage
    yield { type: 'usage', in: prompt_tokens, out: completion_tokens, cached: details?.cached_tokens ?? 0 }
  }

  /** Reads the answer of a server that does not stream although it was asked to. */
  *readWhole(json: unknown): Generator<ModelEvent, void> {
    yield* this.read(json)
    this.done()
  }

  end(): ModelEvent & { type: 'end' } {
    const calls = new Calls(this.#turns)
    const sent = this.#calls.flatMap(({ id, function: { name, arguments: written, ...more }, ...rest }) => {
      const added = calls.add({ id, name, arguments: written })
      if (added === null) return []
      const { id: ownId, ...asked } = added.sent
      return [{ ...rest, id: ownId, function: { ...more, ...asked } }]
    })
    const hasCalls = sent.length > 0
    const body = { role: 'assistant', content: this.#text, ...(hasCalls && { tool_calls: sent }) }
    if (this.#isRefused || this.#finish === 'content_filter')
      return { type: 'end', reason: 'filtered', calls: [], body }
    if (this.#finish === 'length') return { type: 'end', reason: 'length', calls: [], body }
    // Whatever the reason: several servers report `stop`.
    return { type: 'end', reason: hasCalls ? 'calls' : 'stop', calls: calls.list, body }
  }

  *#add({ delta, message, finish_reason }: NonNullable<z.infer<typeof Chunk>['choices']>[number]) {
    const { content, refusal, tool_calls: calls = [] } = delta ?? message ?? {}
    this.#finish = finish_reason ?? this.#finish
    if (refusal) this.#isRefused = true
    for (const call of calls) this.#addCall(call)
    if (!content) return
    this.#text += content
    yield { type: 'text', text: content } satisfies ModelEvent
  }

  #addCall({ index, ...call }: z.infer<typeof ToolCall>): void {
    const written = toText(call.function?.arguments)
    this.#kept.add(JSON.stringify(call).length)
    const pending = index === undefined ? undefined : this.#byIndex.get(index)
    // Without an index each call is whole; a new id under a known index is a new call.
    if (pending !== undefined && (!call.id || call.id === pending.id)) {
      pending.function.arguments += written
      pending.function.name ||= call.function?.name ?? ''
      return
    }
    const begun: PendingCall = {
      ...call,
      id: call.id ?? '',
      type: 'function',
      function: { ...call.function, name: call.function?.name ?? '', arguments: written },
    }
    this.#calls.push(begun)
    if (index !== undefined) this.#byIndex.set(index, begun)
  }

  #failureOf(error: unknown): Error {
    const { success, data } = z.object({ code: z.unknown().optional(), type: text, message: text }).safeParse(error)
    if (!success) return unreadable(this.#vendor, 'The answer ends in an error')
    const { code, type, message = '' } = data
    const isFinal = (typeof code === 'number' && code < 500 && code !== 429) || code === 'insufficient_quota'
    return failedMidway(this.#vendor, `${String(code ?? type ?? 'error')} ${message}`, !isFinal)
  }
}

function toText(written: string | object | undefined): string {
  return typeof written === 'object' ? JSON.stringify(written) : (written ?? '')
}
