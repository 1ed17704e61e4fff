import { usableMs } from '../../actors/id-pool.ts'
import type { Sql } from '../../storage/sql.ts'
import { findTransactions } from '../../storage/transactions.ts'
import { findNewestRev, listMoved } from './store.ts'

/** An app, and the newest rev that was found of it. */
export interface Moved {
  app_id: number
  rev: number
}

interface Mark {
  /** The newest rev at that time, and the first transaction that had not begun. */
  readonly rev: number
  readonly next: number
  /** When it was asked for, and when it was known. */
  readonly fromMs: number
  readonly atMs: number
}

/** A transaction that is open for longer is nobody's commit: those are given up after 15 s. */
const latestMs = 60_000

/** Transactions that begin later do not use numbers from before; with room for clocks that do not run alike. */
const usedMs = usableMs + 500

/**
 * Finds which apps were written to, by any node. Numbers of one app are committed in the order in which they were
 * drawn, those of different apps are not: so a look begins at a number before which nothing was left to commit at the
 * last look, and finds some of what that has found.
 */
export class Moves {
  readonly #sql: Sql
  readonly #nowMs: () => number
  /** Oldest first; what was drawn before the first has been looked at, or will never be committed. */
  #marks: Mark[] = []
  /** How many marks were over before the last look. */
  #over = 0

  /** `nowMs`: a clock that is never set. With one that jumps ahead, numbers that may still be used would count as lost. */
  constructor(sql: Sql, nowMs: () => number) {
    this.#sql = sql
    this.#nowMs = nowMs
  }

  /** Where the next look begins. */
  get from(): number {
    return this.#marks[0]?.rev ?? Number.POSITIVE_INFINITY
  }

  /** The first look only takes notice of where things are. Finding nothing new costs two small queries. */
  async look(): Promise<Moved[]> {
    // In this order: a number that was drawn meanwhile belongs to a transaction that a later `next` leaves open.
    const fromMs = this.#nowMs()
    const rev = await findNewestRev(this.#sql)
    const { oldest, next } = await findTransactions(this.#sql)
    const atMs = this.#nowMs()
    const ended = this.#marks.findLast(mark => mark.next <= oldest)?.fromMs ?? Number.NEGATIVE_INFINITY
    this.#over = this.#marks.findLastIndex(mark => mark.atMs <= ended - usedMs || mark.atMs < atMs - latestMs)
    this.#marks.push({ rev, next, fromMs, atMs })
    return rev === this.from ? [] : listMoved(this.#sql, this.from)
  }

  /** What the last look has found was dealt with: the next one need not find all of it again. */
  settle(): void {
    this.#marks.splice(0, this.#over)
    this.#over = 0
  }
}
