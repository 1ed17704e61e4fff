import { pause, type Clock } from '../../../lib/clock.ts'
import { isBlank } from '../../../lib/name.ts'
import type { Tracer } from '../../../lib/tracer.ts'
import { ProviderFailed, type ConfiguredProvider, type ModelRequest, type Turn } from '../../providers/provider.ts'
import type { Usage } from '../../providers/provider.ts'
import { cutBytes } from '../../tools/result.ts'
import type { ModelBody } from '../steps.ts'

/** A model's answer to one request. */
export interface ModelAnswer {
  body: ModelBody
  usage: Usage
  requestId: string | null
  /** The id of the conversation at a provider that keeps conversations. */
  thread: string | null
}

interface Asking {
  configured: ConfiguredProvider
  providerId: string
  /** Null where requests are not traced. */
  tracer: Tracer | null
  request: Omit<ModelRequest, 'attempt'>
  clock: Clock
  signal: AbortSignal
  onText: (text: string) => void
  /** Called before another attempt: the text so far is void. */
  onRestart: (failure: ProviderFailed, usage: Usage) => void
}

/** A longer pause asked for by the vendor ends the attempts. */
const pauseLimitMs = 20_000

/** Statuses by which a vendor may refuse images. */
const imageStatuses = new Set([400, 404, 413, 422])

/**
 * The most text of an answer: four times what is posted of it. More means that something runs away, so the connection is
 * closed, and what has come counts as an answer that was cut.
 */
const textLimitBytes = 256 * 1024

/** The most sources of an answer; five are shown. */
const sourceLimit = 100

/**
 * Asks a model, and once more where that may help: after a temporary failure, and without images where these may be the
 * cause. Throws ProviderFailed.
 */
export async function askModel(asking: Asking): Promise<ModelAnswer> {
  const { clock, signal } = asking
  let { request } = asking
  for (let attempt = 0; ; attempt++) {
    const usage: Usage = { in: 0, out: 0, cached: 0 }
    try {
      return await askTraced({ ...asking, request: { ...request, attempt }, usage })
    } catch (error) {
      signal.throwIfAborted()
      const failure = toFailure(error)
      if (attempt > 0) throw failure
      const bare = failure.status !== null && imageStatuses.has(failure.status) ? withoutImages(request) : null
      if (bare === null && !isWorthAnother(failure)) throw failure
      asking.onRestart(failure, usage)
      if (bare === null) await pause(clock, failure.retryAfterMs ?? 1_000 + Math.random() * 1_000, signal)
      else request = bare
    }
  }
}

async function askTraced(asking: AskingOnce): Promise<ModelAnswer> {
  const { tracer, request, providerId, usage } = asking
  if (tracer === null) return askOnce(asking)
  const { model, attempt } = request
  const span = tracer.start(`chat ${model}`, {
    kind: 'client',
    facts: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerId,
      'gen_ai.request.model': model,
      'parley.attempt': attempt + 1,
    },
  })
  let error: string | undefined
  try {
    return await tracer.within(span, () => askOnce(asking))
  } catch (failure) {
    error = toFailure(failure).code
    throw failure
  } finally {
    span.add({ 'gen_ai.usage.input_tokens': usage.in, 'gen_ai.usage.output_tokens': usage.out })
    span.end(error)
  }
}

async function askOnce({
  configured,
  providerId: provider,
  request,
  signal,
  onText,
  usage,
}: AskingOnce): Promise<ModelAnswer> {
  const sources: ModelBody['sources'] = []
  let text = ''
  let leftBytes = textLimitBytes
  for await (const event of configured.answer(request, signal)) {
    switch (event.type) {
      case 'text':
        leftBytes -= Buffer.byteLength(event.text)
        if (leftBytes < 0) {
          const last = cutBytes(event.text, leftBytes + Buffer.byteLength(event.text))
          text += last
          onText(last)
          // The blocks are for the vendor's next request, and after a cut there is none.
          const body: ModelBody = { provider, blocks: null, text, reason: 'length', calls: [], sources }
          return { body, usage, requestId: null, thread: null }
        }
        text += event.text
        onText(event.text)
        break
      case 'source':
        if (sources.length < sourceLimit) sources.push({ url: event.url, title: event.title })
        break
      case 'usage':
        Object.assign(usage, { in: event.in, out: event.out, cached: event.cached } satisfies Usage)
        break
      case 'end': {
        const { reason, calls, body: blocks, requestId = null, thread = null } = event
        if (reason === 'filtered') throw new ProviderFailed('The vendor declines to answer', filtered)
        if (reason !== 'calls' && reason !== 'pause' && isBlank(text)) throw failed('The answer is empty')
        return { body: { provider, blocks, text, reason, calls, sources }, usage, requestId, thread }
      }
    }
  }
  throw failed('The answer ended before it was complete')
}

interface AskingOnce extends Omit<Asking, 'request' | 'onRestart'> {
  request: ModelRequest
  /** Updated while the answer arrives: used tokens count, whatever the outcome. */
  usage: Usage
}

const filtered = { code: 'content_filtered', isRetryable: false } as const

function failed(message: string): ProviderFailed {
  return new ProviderFailed(message, { code: 'provider_error', isRetryable: true })
}

/** Any other error of a provider is a broken connection. */
function toFailure(error: unknown): ProviderFailed {
  if (error instanceof ProviderFailed) return error
  const message = error instanceof Error ? error.message.slice(0, 300) : 'The vendor could not be asked'
  return new ProviderFailed(message, { code: 'provider_error', isRetryable: true, cause: error })
}

function isWorthAnother({ isRetryable, retryAfterMs }: ProviderFailed): boolean {
  return isRetryable && (retryAfterMs ?? 0) <= pauseLimitMs
}

/** Null where the request has no images. */
function withoutImages(request: Omit<ModelRequest, 'attempt'>): Omit<ModelRequest, 'attempt'> | null {
  let hasImages = false
  const turns = request.turns.map((turn): Turn => {
    if (turn.role === 'user' && turn.parts.some(part => 'image' in part)) {
      hasImages = true
      return { role: 'user', parts: turn.parts.filter(part => !('image' in part)) }
    }
    if (turn.role !== 'results' || turn.results.every(({ images }) => images === undefined)) return turn
    hasImages = true
    return { role: 'results', results: turn.results.map(({ images: _, ...result }) => result) }
  })
  return hasImages ? { ...request, turns } : null
}
