import { faultOf } from './call-arguments.ts'
import type { Call, Turn } from './provider.ts'

/** The most calls of one answer that are looked at; a round makes 16. */
const callLimit = 64

/** What every vendor takes as the name of a tool. */
const nameForm = /^[\w-]{1,64}$/

const idLength = 256

/**
 * The calls of one answer, in a form in which every vendor accepts them in the next request: models write calls without
 * an id or a name, two with one id, and arguments that are no object, and a vendor refuses a conversation with such a
 * call. What the model wrote stays in `arguments`, so that its result can name the fault.
 */
export class Calls {
  readonly list: Call[] = []
  readonly #ids: Set<string>
  #count: number

  /** `turns`: the conversation so far, whose ids are not given again. */
  constructor(turns: readonly Turn[]) {
    const earlier = turns.flatMap(turn => (turn.role === 'step' ? turn.calls : []))
    this.#ids = new Set(earlier.map(({ id }) => id))
    this.#count = earlier.length
  }

  /**
   * Adds a call. `sent` is what goes back to the vendor in its place; null beyond the limit, where the call is left out.
   */
  add(given: { id: unknown; name: unknown; arguments: string }): { call: Call; sent: Call } | null {
    if (this.list.length >= callLimit) return null
    const call = { id: this.#toId(given.id), name: toName(given.name), arguments: given.arguments }
    this.list.push(call)
    return { call, sent: { ...call, arguments: toSent(call.arguments) } }
  }

  #toId(given: unknown): string {
    this.#count++
    let id = typeof given === 'string' && given.trim() !== '' && given.length <= idLength ? given : ''
    for (let n = this.#count; id === '' || this.#ids.has(id); n++) id = `call_${n}`
    this.#ids.add(id)
    return id
  }
}

/** A name that every vendor takes; the model learns from the result that there is no such tool. */
function toName(given: unknown): string {
  if (typeof given !== 'string' || given === '') return 'unnamed'
  return nameForm.test(given) ? given : given.replace(/[^\w-]/g, '_').slice(0, 64)
}

function toSent(written: string): string {
  return written.trim() === '' || faultOf(written) !== null ? '{}' : written
}
