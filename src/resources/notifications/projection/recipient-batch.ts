import { portion } from '../processing/pace.ts'

/** The most transactions for the recipients of one event: each goes through all recipients again. A guess. */
const most = 16

/**
 * The next batch of an event's recipients, in the order of user ids. Each batch has a transaction of its own, so that
 * notifying very many users takes no long transaction, which writers would notice.
 */
export class RecipientBatch {
  readonly #notifiedTo: number
  /** The last user of the batch, where others follow. */
  last: number | null = null

  /** All users up to `notifiedTo` have been notified. */
  constructor(notifiedTo: number) {
    this.#notifiedTo = notifiedTo
  }

  /** The users of the batch, among all recipients of the event. */
  next(users: Iterable<number>): Set<number> {
    const all = Float64Array.from(new Set(users)).sort()
    const left = all.filter(user => user > this.#notifiedTo)
    const size = Math.max(portion, Math.ceil(all.length / most))
    const batch = left.subarray(0, size)
    if (left.length > size) this.last = batch.at(-1)!
    return new Set(batch)
  }
}
