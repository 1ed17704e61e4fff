import { portion } from '../following/pace.ts'

/** The most transactions in which a crowd is told of one event: each looks at the whole crowd again. A guess. */
const most = 16

/**
 * Those whom one event concerns. Many are told a stretch at a time, in the order of their ids, so that a crowd is never a
 * long transaction, and those who write and are told live meanwhile hardly feel it.
 */
export class Crowd {
  readonly #toldTo: number
  /** The last person of the stretch, where others come after it. */
  last: number | null = null

  /** Everybody up to `toldTo` was told. */
  constructor(toldTo: number) {
    this.#toldTo = toldTo
  }

  /** Those who are told now. */
  next(users: Iterable<number>): Set<number> {
    const all = Float64Array.from(new Set(users)).sort()
    const left = all.filter(user => user > this.#toldTo)
    const size = Math.max(portion, Math.ceil(all.length / most))
    const stretch = left.subarray(0, size)
    if (left.length > size) this.last = stretch.at(-1)!
    return new Set(stretch)
  }
}
