import { pause, type Clock } from '../../../lib/clock.ts'
import { ProviderFailed, type FailureCode, type ModelEvent, type ModelRequest } from '../provider.ts'
import { toRounds, type Call, type Order } from './orders.ts'
import { fence, reveal } from './reveal.ts'

const failures = new Set<string>(['provider_error', 'timeout', 'content_filtered'] satisfies FailureCode[])

/**
 * Follows the orders in the question (see orders.ts), one round per request: all up to the next calls, which end it.
 * Their results are shown at the beginning of the next. Without tools, calls are skipped.
 */
export async function* follow(
  request: ModelRequest,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): AsyncGenerator<ModelEvent, void> {
  const rounds = toRounds(request)
  const done = request.turns.filter(({ role }) => role === 'step').length
  const orders = request.tools.length > 0 ? (rounds[done] ?? []) : rounds.slice(done).flat()
  const answer = new Pieces()
  const results = request.turns.findLast(turn => turn.role === 'results')?.results ?? []
  for (const { text } of results) yield answer.add(fence(text), '\n\n')
  for (const order of orders) {
    if (order.name === 'wait') await pause(clock, order.seconds * 1000, signal)
    else if (order.name === 'fail') fail(order.how, request.attempt)
    else if (order.name === 'tokens') yield { type: 'usage', in: order.in, out: order.out, cached: 0 }
    else if (order.name === 'say') yield answer.add(order.text, '\n')
    else if (order.name === 'show') yield answer.add(reveal(order.what, request), '\n\n')
  }
  const isCall = (order: Order): order is Call => order.name === 'call'
  const calls = request.tools.length > 0 ? orders.filter(isCall) : []
  if (calls.length === 0 && answer.isEmpty) yield answer.add('Done.', '\n')
  yield {
    type: 'end',
    reason: calls.length > 0 ? 'calls' : 'stop',
    calls: calls.map(({ tool, json }, place) => ({ id: `call_${done + 1}_${place + 1}`, name: tool, arguments: json })),
    body: null,
  }
}

/** The text so far, in pieces. */
class Pieces {
  isEmpty = true

  add(text: string, separator: string): ModelEvent {
    const piece = this.isEmpty ? text : `${separator}${text}`
    this.isEmpty = false
    return { type: 'text', text: piece }
  }
}

function fail(how: string, attempt: number): void {
  if (how === 'once' && attempt === 0) {
    throw new ProviderFailed('The script fails once', { code: 'provider_error', isRetryable: true })
  }
  if (!failures.has(how)) return
  // The set holds nothing else.
  throw new ProviderFailed('The script fails', { code: how as FailureCode, isRetryable: false })
}
