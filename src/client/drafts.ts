import type { AgentDelta } from './events.ts'

/** Runs whose drafts are kept: of one whose end was missed the draft stays, until others take its place. A guess. */
const mostDrafts = 100

/** A draft so far. `next` is the number of the delta that continues it; null where one was missed. */
interface Draft {
  next: number | null
  text: string
}

/** What agents have written of answers that are not yet items, put together from deltas. */
export class Drafts {
  readonly #drafts = new Map<number, Draft>()

  /** The draft with this delta; null where it has nothing to show for it, and '' where it is to be hidden. */
  add({ run_id, n, text }: AgentDelta): string | null {
    const draft = n === 0 ? { next: 0, text: '' } : (this.#drafts.get(run_id) ?? { next: null, text: '' })
    this.#drafts.delete(run_id)
    this.#drafts.set(run_id, draft)
    for (const run of this.#drafts.keys()) {
      if (this.#drafts.size <= mostDrafts) break
      this.#drafts.delete(run)
    }
    if (draft.next === n) {
      draft.next++
      draft.text += text
      return draft.text
    }
    const wasShown = draft.text !== ''
    draft.next = null
    draft.text = ''
    return wasShown ? '' : null
  }

  end(run: number): void {
    this.#drafts.delete(run)
  }

  /** After a lost connection nothing goes on. Gives the runs whose drafts are to be hidden. */
  clear(): number[] {
    const shown = Array.from(this.#drafts).flatMap(([run, { text }]) => (text === '' ? [] : run))
    this.#drafts.clear()
    return shown
  }
}
