import type { Sql } from '../postgres/sql.ts'
import { findTransactions } from './transactions.ts'
import { usableMs } from './id-pool.ts'

interface SeenRev {
  /** The newest committed rev at that time, and the first transaction that had not begun. */
  readonly rev: number
  readonly next: number
  /** When it was asked for, and when it was known. */
  readonly fromMs: number
  readonly atMs: number
}

/** A transaction that is open for longer is no commit: those are given up after 15 s. */
const latestMs = 60_000

/** Transactions that begin later do not use revs from before; with room for clocks that do not run alike. */
const usedMs = usableMs + 500

/**
 * A rev of the whole deployment behind which nothing is still to commit. Revs of one app are committed in the order in
 * which they were drawn, those of different apps are not. So the watermark follows behind: a rev that was the newest at
 * some time is passed once every transaction of that time has ended, and the ids drawn until then are too old to be used.
 *
 * To read what was committed since: `advance`, read what follows `from`, and `settle` once that was dealt with. Some of
 * what follows `from` is read several times.
 */
export class Watermark {
  readonly #sql: Sql
  readonly #nowMs: () => number
  /** Oldest first; what was drawn before the first was committed, or will never be. */
  #marks: SeenRev[]
  /** How many marks were passed at the last advance. */
  #passed = 0

  /**
   * `nowMs`: a clock that is never set. With one that jumps ahead, revs that may still be used would count as lost.
   * `start`: a rev before which nothing is of interest; without it, that is the newest of the first advance.
   */
  constructor(sql: Sql, nowMs: () => number, start?: number) {
    this.#sql = sql
    this.#nowMs = nowMs
    this.#marks = start === undefined ? [] : [{ rev: start, next: 0, fromMs: -Infinity, atMs: -Infinity }]
  }

  /** The watermark; infinite before the first advance where no start was given. */
  get from(): number {
    return this.#marks[0]?.rev ?? Number.POSITIVE_INFINITY
  }

  /** Returns the newest rev that is committed. Two small queries. */
  async advance(): Promise<number> {
    // In this order: a rev that was drawn meanwhile belongs to a transaction that a later `next` leaves open.
    const fromMs = this.#nowMs()
    const rev = await findNewestRev(this.#sql)
    const { oldest, next } = await findTransactions(this.#sql)
    const atMs = this.#nowMs()
    const ended = this.#marks.findLast(mark => mark.next <= oldest)?.fromMs ?? Number.NEGATIVE_INFINITY
    this.#passed = this.#marks.findLastIndex(mark => mark.atMs <= ended - usedMs || mark.atMs < atMs - latestMs)
    this.#marks.push({ rev, next, fromMs, atMs })
    return rev
  }

  /** What followed `from` at the last advance was dealt with. */
  confirm(): void {
    this.#marks.splice(0, this.#passed)
    this.#passed = 0
  }
}

/**
 * The largest rev there is. Served by events_rev. What the sequence of revs says could be more than it is after a crash
 * of PostgreSQL.
 */
async function findNewestRev(sql: Sql): Promise<number> {
  const [row] = await sql<{ rev: number }[]>`select coalesce(max(rev), 0) as rev from events`
  return row!.rev
}
