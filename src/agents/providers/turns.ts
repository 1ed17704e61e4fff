import type { CallResult, Turn, UserPart } from './provider.ts'

/**
 * The turns in a form for one provider, or (null) for none. A step of another provider becomes its text, and its
 * results material of the user, because no vendor accepts results of unknown calls. Consecutive turns of one role are
 * joined, empty ones left out.
 */
export function toOwnTurns(provider: string | null, turns: readonly Turn[]): Turn[] {
  const own: Turn[] = []
  let isForeign = false
  for (const turn of turns) {
    if (turn.role === 'step') isForeign = turn.provider !== provider
    add(own, isForeign ? toPlain(turn) : turn)
  }
  return own
}

function toPlain(turn: Turn): Turn {
  if (turn.role === 'step') return { role: 'agent', text: turn.text }
  if (turn.role === 'results') return { role: 'user', parts: turn.results.map(toMaterial) }
  return turn
}

function toMaterial({ name, text }: CallResult): UserPart {
  return { text: `<data kind="result" name="${name}">\n${text.replaceAll('</data', '<\\/data')}\n</data>` }
}

function add(turns: Turn[], turn: Turn): void {
  const last = turns.at(-1)
  if (isEmpty(turn)) return
  if (turn.role === 'user' && last?.role === 'user') {
    turns[turns.length - 1] = { role: 'user', parts: [...last.parts, ...turn.parts] }
  } else if (turn.role === 'agent' && last?.role === 'agent') {
    turns[turns.length - 1] = { role: 'agent', text: `${last.text}\n\n${turn.text}` }
  } else turns.push(turn)
}

function isEmpty(turn: Turn): boolean {
  if (turn.role === 'agent') return turn.text.trim() === ''
  return turn.role === 'user' && turn.parts.every(part => 'text' in part && part.text.trim() === '')
}

/** A result as text alone, for a provider that takes no images there. */
export function toResultText({ text, images = [] }: CallResult): string {
  return [text, ...images.map(() => '[image]')].filter(part => part !== '').join('\n\n')
}
