/** The numbers that one draw from the sequence gives: its increment. */
const idsPerDraw = 64

/**
 * The first offset. An offset stands for a number that a commit draws when it has locked the app: so it is above all
 * numbers that there will ever be, and no row has any after the commit.
 */
export const firstOffset = 2 ** 52

/** As many offsets as there are numbers in one draw. */
export const offsets: readonly number[] = Array.from({ length: idsPerDraw }, (_, at) => firstOffset + at)

/** How many draws give so many numbers. */
export function drawsFor(numbers: number): number {
  return Math.ceil(numbers / idsPerDraw)
}

/** The numbers of several draws, ascending, from the first number of each. */
export function numbersOf(firsts: readonly number[]): number[] {
  return firsts.flatMap(first => Array.from({ length: idsPerDraw }, (_, at) => first + at))
}

/** Ascending numbers of the one sequence of ids and revs, not used by any commit. */
export interface DrawnIds {
  ids: number[]
  /** When the oldest of them was drawn, in milliseconds of PostgreSQL's clock. */
  atMs: number
}

/**
 * How long drawn numbers may be used: PostgreSQL refuses to commit older ones. A poller waits for longer than this
 * before it gives a number up as lost. Also bounds how far the order of ids differs from that of time between apps.
 */
export const usableMs = 2_000

/** Numbers drawn ahead by one commit for the next one. Owned by a commit connection. */
export class IdPool {
  readonly #nowMs: () => number
  #drawn: DrawnIds = { ids: [], atMs: 0 }
  #putAtMs = 0
  #lately = 0

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /**
   * The number of ids to draw for a commit after one that uses `count`: some more than the largest recent commit used.
   */
  refillSize(count: number): number {
    this.#lately = Math.max(count, Math.floor(this.#lately * 0.9))
    return Math.ceil(this.#lately * 1.25) + 16
  }

  /** `count` fresh numbers above `rev`; null where there are not enough. */
  take(count: number, rev: number): DrawnIds | null {
    const { ids, atMs } = this.#drawn
    // Half of the time is for the commit.
    if (this.#nowMs() - this.#putAtMs > usableMs / 2) return null
    if (ids.length < count || ids[0]! <= rev) return null
    this.#drawn = { ids: ids.slice(count), atMs }
    return { ids: ids.slice(0, count), atMs }
  }

  /** Replaces the remaining numbers. */
  put(drawn: DrawnIds): void {
    this.#drawn = drawn
    this.#putAtMs = this.#nowMs()
  }
}
