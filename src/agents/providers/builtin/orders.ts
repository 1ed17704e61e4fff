import type { ModelRequest } from '../provider.ts'

const longestWaitSeconds = 60

export interface Call {
  name: 'call'
  tool: string
  json: string
}

export type Order =
  | Call
  /** `say <text>` */
  | { name: 'say'; text: string }
  /** `system`, `history`, `context` or `tools`: a part of what a model would get. */
  | { name: 'show'; what: 'system' | 'history' | 'context' | 'tools' }
  /** `wait <seconds>`, at most 60. */
  | { name: 'wait'; seconds: number }
  /** `fail provider_error`, `fail timeout`, `fail content_filtered`; `fail once`: only at the first attempt. */
  | { name: 'fail'; how: string }
  /** `tokens <in> <out>` */
  | { name: 'tokens'; in: number; out: number }

/** The orders of a question, one per line, divided after each run of calls. The last round has no calls. */
export function toRounds({ question, agent }: Pick<ModelRequest, 'question' | 'agent'>): Order[][] {
  const rounds: Order[][] = [[]]
  for (const line of question.split('\n')) {
    // In rooms, an order begins with the mention that triggers the agent.
    const mention = `@${agent} `
    const order = toOrder(line.startsWith(mention) ? line.slice(mention.length) : line)
    if (order === undefined) continue
    const round = rounds.at(-1)!
    if (round.at(-1)?.name === 'call' && order.name !== 'call') rounds.push([order])
    else round.push(order)
  }
  if (rounds.at(-1)!.at(-1)?.name === 'call') rounds.push([])
  return rounds
}

function toOrder(line: string): Order | undefined {
  const [, name = '', rest = ''] = /^\s*([a-z]+)(?:\s+(.*?))?\s*$/.exec(line) ?? []
  switch (name) {
    case 'say':
      return { name, text: rest }
    case 'system':
    case 'history':
    case 'context':
    case 'tools':
      return { name: 'show', what: name }
    case 'wait':
      return /^\d+(\.\d+)?$/.test(rest) ? { name, seconds: Math.min(Number(rest), longestWaitSeconds) } : undefined
    case 'fail':
      return { name, how: rest }
    case 'tokens':
      return toTokens(rest)
    case 'call':
      return toCall(rest)
    default:
      return undefined
  }
}

function toTokens(text: string): Order | undefined {
  const [, into, out] = /^(\d{1,9})\s+(\d{1,9})$/.exec(text) ?? []
  return into === undefined ? undefined : { name: 'tokens', in: Number(into), out: Number(out) }
}

function toCall(text: string): Order | undefined {
  const [, tool = '', json = ''] = /^(\S+)\s*(.*)$/.exec(text) ?? []
  return tool === '' ? undefined : { name: 'call', tool, json: json || '{}' }
}
