import { z } from 'zod'
import type { Log } from '../../lib/log.ts'
import { Calls } from './calls.ts'
import { named, providerKind } from './kind.ts'
import type { CallResult, ModelEvent, ModelRequest, Provider, Turn, UserPart } from './provider.ts'
import { toOwnTurns, toResultText } from './turns.ts'
import { toFailure, unreadable } from './wire/failure.ts'
import { count, list, loose, readFields, record, text, tolerant } from './wire/fields.ts'
import { Kept } from './wire/kept.ts'
import { parseJson, type Vendor } from './wire/vendor.ts'

const filtered = new Set(['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'])

const Part = z.looseObject({
  text,
  thought: tolerant(z.boolean()),
  functionCall: loose,
})
type Part = z.infer<typeof Part>

const StreamEvent = z.object({
  candidates: list(
    z.object({
      content: record({ parts: list(z.unknown()) }),
      finishReason: text,
      groundingMetadata: record({ groundingChunks: list(z.object({ web: record({ uri: text, title: text }) })) }),
    }),
  ),
  promptFeedback: record({ blockReason: text }),
  usageMetadata: record({
    promptTokenCount: count,
    cachedContentTokenCount: count,
    candidatesTokenCount: count,
    thoughtsTokenCount: count,
  }),
  error: record({ code: count }),
})
type StreamEvent = z.infer<typeof StreamEvent>

export const gemini = providerKind({
  id: 'gemini',
  url: 'https://generativelanguage.googleapis.com',
  settings: {},
  open({ connect, key, log }) {
    const vendor = connect(named('x-goog-api-key', key))
    return { answer: generateContent(vendor, log), takesImages: true, takesTools: true }
  },
})

/**
 * Google's Gemini API. A step's body is all parts in order, unchanged: a `thoughtSignature` must return on its own
 * part, even one without text.
 */
function generateContent(vendor: Vendor, log: Log): Provider {
  let hasWarned = false
  return async function* (request, signal) {
    if (request.webSearch && request.tools.length > 0 && !hasWarned) {
      hasWarned = true
      log.warn({ provider: vendor.id }, 'web_search has no effect for agents with tools')
    }
    const model = encodeURIComponent(request.model.replace(/^models\//, ''))
    const path = `/v1beta/models/${model}:streamGenerateContent?alt=sse`
    const answer = await vendor.post(path, toBody(request), signal)
    const content = new Content(vendor.id, request)
    for await (const data of answer.records()) yield* content.read(parseJson(vendor.id, data))
    yield { ...content.end(), requestId: answer.requestId }
  }
}

function toBody({ system, turns, tools, webSearch, maxTokens }: ModelRequest): object {
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name: toVendorName(name),
    description,
    parametersJsonSchema: parameters,
  }))
  // This endpoint accepts no functions beside its own search.
  const search = webSearch && tools.length === 0
  return {
    systemInstruction: { parts: [{ text: system }] },
    contents: toContents(toOwnTurns('gemini', turns)),
    ...(tools.length > 0 && { tools: [{ functionDeclarations }] }),
    ...(search && { tools: [{ google_search: {} }] }),
    ...(maxTokens !== null && { generationConfig: { maxOutputTokens: maxTokens } }),
  }
}

/** Names must begin with a letter or `_`. */
function toVendorName(name: string): string {
  return /^[A-Za-z_]/.test(name) ? name : `f_${name}`
}

function toContents(turns: Turn[]): object[] {
  const contents: { role: 'user' | 'model'; parts: unknown[] }[] = []
  const add = (role: 'user' | 'model', parts: unknown[]) => {
    const last = contents.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else contents.push({ role, parts: [...parts] })
  }
  let called: Part[] = []
  for (const turn of turns) {
    if (turn.role === 'user') add('user', turn.parts.map(toPart))
    else if (turn.role === 'agent') add('model', [{ text: turn.text }])
    else if (turn.role === 'step') {
      called = callsOf(turn.body)
      add('model', turn.body as unknown[])
    } else
      add(
        'user',
        turn.results.map((result, place) => toResponse(result, called[place])),
      )
  }
  return contents
}

function callsOf(body: unknown): Part[] {
  if (!Array.isArray(body)) throw new Error('A stored step of gemini is not an array of parts')
  return body.flatMap(part => {
    const { data } = Part.safeParse(part)
    return data?.functionCall ? [data] : []
  })
}

function toPart(part: UserPart): object {
  if ('text' in part) return { text: part.text }
  return { inlineData: { mimeType: part.type, data: part.image.toString('base64') } }
}

/** The result of a call; one for a call without an id has none, and their order counts. */
function toResponse(result: CallResult, call: Part | undefined): object {
  const id = call?.functionCall?.id
  const text = toResultText(result)
  const response = result.isError ? { error: text } : { result: text }
  return { functionResponse: { ...(id !== undefined && { id }), name: toVendorName(result.name), response } }
}

/** One answer while it arrives. */
class Content {
  readonly #vendor: string
  /** The vendor's names of tools → ours. */
  readonly #names: Map<string, string>
  readonly #kept: Kept
  readonly #parts: unknown[] = []
  readonly #calls: Calls
  readonly #sources = new Set<string>()
  #finish: string | undefined
  #isBlocked = false

  constructor(vendor: string, { tools, turns }: Pick<ModelRequest, 'tools' | 'turns'>) {
    this.#vendor = vendor
    this.#kept = new Kept(vendor)
    this.#names = new Map(tools.map(({ name }) => [toVendorName(name), name]))
    this.#calls = new Calls(turns)
  }

  *read(json: unknown): Generator<ModelEvent, void> {
    const { candidates, promptFeedback, usageMetadata, error } = readFields(this.#vendor, StreamEvent, json)
    if (error !== undefined) {
      throw toFailure(this.#vendor, { status: error.code ?? 500, headers: {}, text: JSON.stringify(json) })
    }
    const [candidate] = candidates ?? []
    for (const part of candidate?.content?.parts ?? []) yield* this.#add(part)
    for (const { web } of candidate?.groundingMetadata?.groundingChunks ?? []) yield* this.#source(web)
    this.#finish = candidate?.finishReason ?? this.#finish
    this.#isBlocked ||= promptFeedback?.blockReason !== undefined
    if (usageMetadata !== undefined) yield toUsage(usageMetadata)
  }

  end(): ModelEvent & { type: 'end' } {
    const body = this.#parts
    const finish = this.#finish
    if (this.#isBlocked || (finish !== undefined && filtered.has(finish))) {
      return { type: 'end', reason: 'filtered', calls: [], body }
    }
    if (finish === undefined) throw unreadable(this.#vendor, 'The answer breaks off')
    if (finish === 'MALFORMED_FUNCTION_CALL') throw unreadable(this.#vendor, 'The model wrote a call that is none')
    if (this.#calls.list.length > 0) return { type: 'end', reason: 'calls', calls: this.#calls.list, body }
    return { type: 'end', reason: finish === 'MAX_TOKENS' ? 'length' : 'stop', calls: [], body }
  }

  *#add(raw: unknown): Generator<ModelEvent, void> {
    const part = readFields(this.#vendor, Part, raw)
    this.#kept.add(JSON.stringify(raw).length)
    if (part.functionCall !== undefined) {
      const { id, name, args } = part.functionCall
      const own = typeof name === 'string' ? (this.#names.get(name) ?? name) : name
      const added = this.#calls.add({ id, name: own, arguments: args === undefined ? '' : JSON.stringify(args) })
      if (added === null) return
      const { sent } = added
      const functionCall = {
        ...part.functionCall,
        ...(id !== undefined && { id: sent.id }),
        name: toVendorName(sent.name),
        args: JSON.parse(sent.arguments) as unknown,
      }
      this.#parts.push({ ...(raw as object), functionCall })
      return
    }
    this.#parts.push(raw)
    if (part.text && part.thought !== true) yield { type: 'text', text: part.text }
  }

  *#source(web: { uri?: string | undefined; title?: string | undefined } | undefined): Generator<ModelEvent, void> {
    if (web?.uri === undefined || this.#sources.has(web.uri)) return
    this.#sources.add(web.uri)
    yield { type: 'source', url: web.uri, title: web.title ?? web.uri }
  }
}

function toUsage(usage: NonNullable<StreamEvent['usageMetadata']>): ModelEvent {
  const { promptTokenCount = 0, cachedContentTokenCount = 0, candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usage
  return {
    type: 'usage',
    in: promptTokenCount,
    out: candidatesTokenCount + thoughtsTokenCount,
    cached: cachedContentTokenCount,
  }
}
