import type { Sql } from '../postgres/sql.ts'
import { findTransactions } from './transactions.ts'
import { usableMs } from './id-pool.ts'

/** What one `advance` has seen. */
interface SeenNumber {
  /** The newest number at that time, and the first transaction that had not begun. */
  readonly number: number
  readonly next: number
  /** When it was asked for, and when it was known. */
  readonly fromMs: number
  readonly atMs: number
}

/** Numbers that are committed in another order than they are drawn in. */
export interface Numbers {
  findNewest(sql: Sql): Promise<number>
  /** For how long after a draw a transaction that had not begun then may use the number. */
  drawnAheadMs: number
}

/** A transaction that is open for longer is no commit: those are given up after 15 s. */
const latestMs = 60_000

/**
 * The revs of events, which the node draws ahead; with room for clocks that do not run alike. Served by events_rev. What
 * the sequence of revs says could be more than it is after a crash of PostgreSQL.
 */
const revs: Numbers = {
  async findNewest(sql) {
    const [row] = await sql<{ rev: number }[]>`select coalesce(max(rev), 0) as rev from events`
    return row!.rev
  },
  drawnAheadMs: usableMs + 500,
}

interface WatermarkOptions {
  /** Default: the revs of events. */
  numbers?: Numbers
  /** A number before which nothing is of interest; without it, that is the newest of the first advance. */
  start?: number
}

/**
 * A number of the whole deployment, by default a rev, behind which nothing is still to commit. Revs of one app are
 * committed in the order in which they were drawn, those of different apps are not. So the watermark follows behind: a
 * number that was the newest at some time is passed once every transaction of that time has ended, and the numbers drawn
 * until then are too old to be used.
 *
 * To read what was committed since: `advance`, read what follows `from`, and `confirm` once that was dealt with. Some of
 * what follows `from` is read several times.
 */
export class Watermark {
  readonly #sql: Sql
  readonly #nowMs: () => number
  readonly #numbers: Numbers
  /** Oldest first; what was drawn before the first was committed, or will never be. */
  #seen: SeenNumber[]
  /** How many of them were passed at the last advance. */
  #passed = 0

  /** `nowMs`: a clock that is never set. With one that jumps ahead, numbers that may still be used would count as lost. */
  constructor(sql: Sql, nowMs: () => number, { numbers = revs, start }: WatermarkOptions = {}) {
    this.#sql = sql
    this.#nowMs = nowMs
    this.#numbers = numbers
    this.#seen = start === undefined ? [] : [{ number: start, next: 0, fromMs: -Infinity, atMs: -Infinity }]
  }

  /** The watermark; infinite before the first advance where no start was given. */
  get from(): number {
    return this.#seen[0]?.number ?? Number.POSITIVE_INFINITY
  }

  /** Returns the newest number. Two small queries. */
  async advance(): Promise<number> {
    const { findNewest, drawnAheadMs } = this.#numbers
    // In this order: a number that was drawn meanwhile belongs to a transaction that a later `next` leaves open.
    const fromMs = this.#nowMs()
    const number = await findNewest(this.#sql)
    const { oldest, next } = await findTransactions(this.#sql)
    const atMs = this.#nowMs()
    // What was not committed before a crash of PostgreSQL is drawn again after it.
    while ((this.#seen.at(-1)?.number ?? 0) > number) this.#seen.pop()
    const ended = this.#seen.findLastIndex(seen => seen.next <= oldest)
    const usedMs = (this.#seen[ended]?.fromMs ?? Number.NEGATIVE_INFINITY) - drawnAheadMs
    this.#passed = this.#seen.findLastIndex((seen, at) => {
      const isUsed = drawnAheadMs === 0 ? at <= ended : seen.atMs <= usedMs
      return isUsed || seen.atMs < atMs - latestMs
    })
    this.#seen.push({ number, next, fromMs, atMs })
    return number
  }

  /** What followed `from` at the last advance was dealt with. */
  confirm(): void {
    this.#seen.splice(0, this.#passed)
    this.#passed = 0
  }
}
