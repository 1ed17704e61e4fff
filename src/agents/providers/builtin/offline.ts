import type { Clock } from '../../../lib/clock.ts'
import { listMaterial } from '../material.ts'
import type { ModelEvent, ModelRequest, Provider } from '../provider.ts'
import { obey } from './script.ts'

/** Characters of a question that are repeated. */
const quotedCharacters = 1_000

/** Passages that are shown, and characters of each. */
const passagesShown = 3
const passageCharacters = 300

/**
 * Answers without any model and network: what an agent is asked comes back (`echo`), passages of its knowledge are
 * quoted (`search`), or the question is a list of orders (`script`). The agent's model is the mode; any other one is
 * `echo`. The same request always gets the same answer.
 */
export class Offline implements Provider {
  readonly #clock: Clock

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock
  }

  async *answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    if (request.model === 'script') {
      yield* obey(request, { clock: this.#clock, signal })
      return
    }
    yield { type: 'text', text: request.model === 'search' ? quotePassages(request) : echo(request) }
    yield { type: 'end', reason: 'stop', calls: [], body: null }
  }
}

function echo({ agent, question }: ModelRequest): string {
  // Cut between characters: a half of a pair would be none.
  const asked = question.slice(0, quotedCharacters).replace(/[\uD800-\uDBFF]$/, '')
  return `${agent} works without a language model here. You asked:\n\n${quote(asked)}`
}

function quotePassages(request: ModelRequest): string {
  const passages = listMaterial(request).filter(({ kind }) => kind === 'passage')
  if (passages.length === 0) return 'I found nothing about that.'
  return passages
    .slice(0, passagesShown)
    .map(({ n = '1', content }) => {
      const text = content.trim()
      const cut = text.slice(0, passageCharacters).replace(/[\uD800-\uDBFF]$/, '')
      return `${quote(cut.length < text.length ? `${cut}…` : cut)} [${n}]`
    })
    .join('\n\n')
}

function quote(text: string): string {
  return text.replace(/^/gm, '> ')
}
