import { systemClock } from '../../../src/lib/clock.ts'
import { createLog } from '../../../src/lib/log.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { Excerpt, ModelEvent, ModelRequest, Provider, Providers } from '../../../src/agents/providers/provider.ts'
import { ProviderFailed } from '../../../src/agents/providers/provider.ts'
import { openProviders, type ProviderValues } from '../../../src/agents/providers/table.ts'

export const key = 'sk-very-secret-key'

type Change = Record<string, Partial<ProviderValues>>

/** All vendors at one address, with a key. `lines` is what is logged. */
export function openAt(url: string, change: Change = {}, lines: string[] = []): Providers {
  const vendor: ProviderValues = { url, key: new Secret(key), own: {} }
  const byId: Record<string, ProviderValues> = {
    anthropic: { ...vendor, own: { version: '2023-06-01' } },
    openai: { ...vendor, own: { form: 'responses', images: 'true' }, ...change['openai'] },
    gemini: vendor,
    kapa: vendor,
    builtin: { url: null, key: null, own: { model: null }, ...change['builtin'] },
  }
  const parts = { clock: systemClock, log: createLog('debug', line => lines.push(line)) }
  return openProviders({ byId, maxTokens: 4096 }, parts)
}

/** One of them: `chat` is openai in its other form. */
export function vendorAt(url: string, name: 'anthropic' | 'responses' | 'chat' | 'gemini' | 'kapa'): Provider {
  if (name === 'chat') return find(openAt(url, { openai: { own: { form: 'chat', images: 'true' } } }), 'openai')
  return find(openAt(url), name === 'responses' ? 'openai' : name)
}

export function find(providers: Providers, id: string): Provider {
  const found = providers.find(id)
  if (found === undefined) throw new Error(`${id} is not configured`)
  return found.answer
}

export function request(change: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'a-model',
    agent: 'Assistant',
    system: 'You are Assistant.',
    turns: [{ role: 'user', parts: [{ text: 'Where is order 17?' }] }],
    question: 'Where is order 17?',
    excerpts: [],
    thread: null,
    tools: [],
    webSearch: false,
    maxTokens: null,
    person: 'person-id',
    conversation: 'conversation-id',
    attempt: 0,
    ...change,
  }
}

/** Data that comes with a question. */
export function excerpt(kind: Excerpt['kind'], content: string, n?: number): Excerpt {
  return { kind, n, content, text: `<data kind="${kind}" name="a file">\n${content}\n</data>` }
}

export const getOrder = {
  name: 'get_order',
  description: 'Finds an order.',
  parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
}

export const image = { image: Buffer.from('a picture'), type: 'image/png' }

export interface Answer {
  text: string
  sources: { url: string; title: string }[]
  usage: { in: number; out: number; cached: number } | undefined
  end: ModelEvent & { type: 'end' }
}

/** The whole answer, its events put together. */
export async function ask(
  provider: Provider,
  asked: ModelRequest = request(),
  signal: AbortSignal = new AbortController().signal,
): Promise<Answer> {
  const answer: Partial<Answer> & { text: string; sources: Answer['sources'] } = { text: '', sources: [] }
  for await (const event of provider(asked, signal)) {
    if (event.type === 'text') answer.text += event.text
    else if (event.type === 'source') answer.sources.push({ url: event.url, title: event.title })
    else if (event.type === 'usage') answer.usage = { in: event.in, out: event.out, cached: event.cached }
    else answer.end = event
  }
  if (answer.end === undefined) throw new Error('The answer had no end')
  return { usage: undefined, ...answer, end: answer.end }
}

export async function failureOf(work: Promise<unknown>): Promise<ProviderFailed> {
  const error = await work.then(
    () => new Error('Nothing failed'),
    (error: unknown) => error,
  )
  if (error instanceof ProviderFailed) return error
  throw error
}
