import type { AgentDelta } from '../connection/frames.ts'

/** The most drafts kept: where the end of a run was missed, its draft stays until later ones replace it. A guess. */
const draftLimit = 100

/** A draft so far. `next` is the number of the next delta; null where one was missed. */
interface Draft {
  next: number | null
  text: string
}

/** Assembles the drafts of agents' answers from deltas. */
export class Drafts {
  readonly #drafts = new Map<number, Draft>()

  /** Adds a delta and returns the draft; null where it is incomplete, '' where it is to be hidden. */
  add({ run_id, n, text }: AgentDelta): string | null {
    const draft = n === 0 ? { next: 0, text: '' } : (this.#drafts.get(run_id) ?? { next: null, text: '' })
    this.#drafts.delete(run_id)
    this.#drafts.set(run_id, draft)
    for (const run of this.#drafts.keys()) {
      if (this.#drafts.size <= draftLimit) break
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

  /** Drops all drafts after a lost connection; returns the runs whose drafts are to be hidden. */
  clear(): number[] {
    const shown = Array.from(this.#drafts).flatMap(([run, { text }]) => (text === '' ? [] : run))
    this.#drafts.clear()
    return shown
  }
}
