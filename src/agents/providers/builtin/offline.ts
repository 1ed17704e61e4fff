import type { Clock } from '../../../lib/clock.ts'
import type { ModelRequest, Provider } from '../provider.ts'
import { follow } from './script.ts'

/** Characters of a question that are repeated. */
const quotedCharacters = 1_000

/** Passages that are shown, and characters of each. */
const passagesShown = 3
const passageCharacters = 300

/**
 * Answers without a model or network: repeats the question (`echo`), quotes passages of the agent's knowledge
 * (`search`), or follows the orders in the question (`script`). The agent's model is the mode; unknown ones mean
 * `echo`. Deterministic.
 */
export function offline(clock: Clock): Provider {
  return async function* (request, signal) {
    if (request.model === 'script') return yield* follow(request, { clock, signal })
    yield { type: 'text', text: request.model === 'search' ? quotePassages(request) : echo(request) }
    yield { type: 'end', reason: 'stop', calls: [], body: null }
  }
}

function echo({ agent, question }: ModelRequest): string {
  // Cut between characters: half of a surrogate pair is no text.
  const asked = question.slice(0, quotedCharacters).replace(/[\uD800-\uDBFF]$/, '')
  return `${agent} works without a language model here. You asked:\n\n${quote(asked)}`
}

function quotePassages({ excerpts }: ModelRequest): string {
  const passages = excerpts.filter(({ kind }) => kind === 'passage')
  if (passages.length === 0) return 'I found nothing about that.'
  return passages
    .slice(0, passagesShown)
    .map(({ n = 1, content }) => {
      const text = content.trim()
      const cut = text.slice(0, passageCharacters).replace(/[\uD800-\uDBFF]$/, '')
      return `${quote(cut.length < text.length ? `${cut}…` : cut)} [${n}]`
    })
    .join('\n\n')
}

function quote(text: string): string {
  return text.replace(/^/gm, '> ')
}
