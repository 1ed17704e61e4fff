/** How many numbers one draw from the sequence gives: it counts in these steps. */
export const idsPerDraw = 64

/** Numbers of the environment's one line, ascending, that no commit has used. */
export interface DrawnIds {
  ids: number[]
  /** When they were drawn, in milliseconds of PostgreSQL's clock; the oldest of them. */
  atMs: number
}

/**
 * For how long numbers may be used after they were drawn: PostgreSQL refuses to commit older ones. A
 * poller waits for longer than this before it gives a number up as lost. Bounds as well how far the order
 * of ids is from that of time in different apps.
 */
export const usableMs = 2_000

/** Half of that, so that the commit is on time. */
const freshMs = 1_000

/** Numbers drawn ahead by one commit for the next one. Owned by a commit connection. */
export class IdPool {
  readonly #nowMs: () => number
  #drawn: DrawnIds = { ids: [], atMs: 0 }
  #putAtMs = 0
  #lately = 0

  /** `nowMs`: a clock that never goes back. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** How many numbers to draw for a commit after one that takes `count`: some more than the largest of late took. */
  refillSize(count: number): number {
    this.#lately = Math.max(count, Math.floor(this.#lately * 0.9))
    return Math.ceil(this.#lately * 1.25) + 16
  }

  /** `count` fresh numbers above `rev`; null where there are not as many. */
  take(count: number, rev: number): DrawnIds | null {
    const { ids, atMs } = this.#drawn
    if (this.#nowMs() - this.#putAtMs > freshMs) return null
    if (ids.length < count || ids[0]! <= rev) return null
    this.#drawn = { ids: ids.slice(count), atMs }
    return { ids: ids.slice(0, count), atMs }
  }

  /** Replaces what is left. */
  put(drawn: DrawnIds): void {
    this.#drawn = drawn
    this.#putAtMs = this.#nowMs()
  }
}
