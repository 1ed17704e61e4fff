import type { ModelRequest, Turn } from '../provider.ts'

/** A part of what a model would get, as a block of code. */
export function reveal(what: 'system' | 'history' | 'context' | 'tools', request: ModelRequest): string {
  return fence(
    {
      system: () => request.system,
      history: () => request.turns.map(toText).join('\n\n'),
      context: () => request.excerpts.map(({ text }) => text).join('\n\n'),
      tools: () => request.tools.map(({ name }) => name).join('\n'),
    }[what](),
  )
}

/** A block of code around any text: its fence is longer than any inside. */
export function fence(text: string): string {
  const inside = [...text.matchAll(/`{3,}/g)].map(([run]) => run.length)
  const ticks = '`'.repeat(Math.max(3, ...inside.map(length => length + 1)))
  return `${ticks}\n${text}\n${ticks}`
}

function toText(turn: Turn): string {
  switch (turn.role) {
    case 'user':
      return `user: ${turn.parts.map(part => ('text' in part ? part.text : '[image]')).join('\n\n')}`
    case 'agent':
    case 'step':
      return `agent: ${turn.text}`
    case 'results':
      return turn.results.map(({ name, text }) => `${name}: ${text}`).join('\n\n')
  }
}
