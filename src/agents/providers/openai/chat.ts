import type { Log } from '../../../lib/log.ts'
import { ProviderFailed, type CallResult, type ModelRequest, type Provider } from '../provider.ts'
import type { Turn, UserPart } from '../provider.ts'
import { ChatAnswer } from './chat-answer.ts'
import { toOwnTurns, toResultText } from '../turns.ts'
import { unreadable } from '../wire/failure.ts'
import { parseJson, type Vendor, type VendorAnswer } from '../wire/vendor.ts'

/** Errors of servers that do not know the newer members. */
const unknownMember = /stream_options|include_usage|tools?\b/i

interface ChatOptions {
  vendor: Vendor
  /** True for OpenAI itself, which has another name for the token limit. */
  isOpenAi: boolean
  /** Overrides the agent's model. */
  model?: string | null
  log: Log
}

/**
 * OpenAI's Chat Completions API, as Ollama, vLLM, LM Studio, llama.cpp and many others implement it with small
 * differences. A step's body is the assistant's message, with all members of its calls.
 */
export function openAiChat(options: ChatOptions): Provider {
  const { vendor, log } = options
  let takesStreamOptions = true
  let hasWarned = false

  async function ask(request: ModelRequest, signal: AbortSignal): Promise<VendorAnswer> {
    const post = (withOptions: boolean) =>
      vendor.post('/chat/completions', toBody(request, { ...options, withOptions }), signal)
    if (!takesStreamOptions) return post(false)
    try {
      return await post(true)
    } catch (error) {
      const isRefused = error instanceof ProviderFailed && error.status === 400 && unknownMember.test(error.message)
      if (!isRefused) throw error
      const answer = await post(false)
      // The options were the cause: this server is not sent them again.
      takesStreamOptions = false
      return answer
    }
  }

  return async function* (request, signal) {
    if (request.webSearch && !hasWarned) {
      hasWarned = true
      log.warn({ provider: vendor.id }, 'web_search has no effect in the chat form')
    }
    const answer = await ask(request, signal)
    const message = new ChatAnswer(vendor.id, request.turns)
    if (answer.isJson) yield* message.readWhole(await answer.json())
    else {
      for await (const data of answer.records()) {
        if (data.trim() === '[DONE]') {
          message.done()
          break
        }
        yield* message.read(parseJson(vendor.id, data))
      }
    }
    if (!message.isComplete) throw unreadable(vendor.id, 'The answer breaks off')
    yield { ...message.end(), requestId: answer.requestId }
  }
}

function toBody(request: ModelRequest, options: ChatOptions & { withOptions: boolean }): object {
  const { system, turns, tools, maxTokens } = request
  const declared = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }))
  return {
    model: options.model ?? request.model,
    stream: true,
    ...(options.withOptions && { stream_options: { include_usage: true } }),
    messages: [{ role: 'system', content: system }, ...toOwnTurns(options.vendor.id, turns).flatMap(toMessages)],
    ...(declared.length > 0 && { tools: declared }),
    ...(maxTokens !== null && { [options.isOpenAi ? 'max_completion_tokens' : 'max_tokens']: maxTokens }),
  }
}

function toMessages(turn: Turn): object[] {
  if (turn.role === 'user') return [{ role: 'user', content: toContent(turn.parts) }]
  if (turn.role === 'agent') return [{ role: 'assistant', content: turn.text }]
  if (turn.role === 'results') return turn.results.map(toMessage)
  return [turn.body as object]
}

/** Plain text where there is nothing else: some servers accept nothing else. */
function toContent(parts: UserPart[]): string | object[] {
  const texts = parts.flatMap(part => ('text' in part ? [part.text] : []))
  if (texts.length === parts.length) return texts.join('\n\n')
  return parts.map(part => {
    if ('text' in part) return { type: 'text', text: part.text }
    return { type: 'image_url', image_url: { url: `data:${part.type};base64,${part.image.toString('base64')}` } }
  })
}

function toMessage(result: CallResult): object {
  return { role: 'tool', tool_call_id: result.id, content: toResultText(result) }
}
