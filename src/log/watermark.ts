import type { Db, Sql } from '../postgres/sql.ts'
import { usableMs } from './id-pool.ts'

/** The observations of one `advance`. */
interface SeenNumber {
  /** The newest number at that time, and the first transaction that had not begun. */
  readonly number: number
  readonly next: number
  /** When it was asked for, and when it was known. */
  readonly fromMs: number
  readonly atMs: number
}

/** Numbers that are not committed in the order in which they are drawn. */
export interface Numbers {
  findNewest(sql: Sql): Promise<number>
  /** How long after a draw a transaction that had not begun then may use the number. */
  drawnAheadMs: number
}

/** A transaction that is open for longer is no commit: commits are given up after 15 s. */
const latestMs = 60_000

/**
 * The revs of events, which nodes draw ahead; allows for clocks that differ. Served by events_rev. After a crash of
 * PostgreSQL, the sequence may be ahead of the newest rev, so it is not used.
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
  /** A number before which nothing is of interest; by default the newest one of the first advance. */
  start?: number
}

/**
 * A number (by default a rev) of the whole deployment up to which nothing can be committed any more. Revs of one app
 * are committed in the order of drawing, those of different apps are not. So the watermark lags: a number that was the
 * newest at some time is passed once every transaction of that time has ended, and the numbers drawn until then are too
 * old to be used.
 *
 * To read new commits: call `advance`, read the rows after `from`, and call `confirm` when they were processed. Some
 * rows are read repeatedly.
 */
export class Watermark {
  readonly #sql: Sql
  readonly #nowMs: () => number
  readonly #numbers: Numbers
  /** Oldest first; numbers before the first were committed, or never will be. */
  #seen: SeenNumber[]
  /** How many of them were passed at the last advance. */
  #passed = 0

  /** `nowMs`: a monotonic clock. With one that jumps ahead, numbers that may still be used would count as lost. */
  constructor(sql: Sql, nowMs: () => number, { numbers = revs, start }: WatermarkOptions = {}) {
    this.#sql = sql
    this.#nowMs = nowMs
    this.#numbers = numbers
    this.#seen = start === undefined ? [] : [{ number: start, next: 0, fromMs: -Infinity, atMs: -Infinity }]
  }

  /** The watermark; infinite before the first advance, unless `start` was given. */
  get from(): number {
    return this.#seen[0]?.number ?? Number.POSITIVE_INFINITY
  }

  /** Returns the newest number. Costs two small queries. */
  async advance(): Promise<number> {
    const { findNewest, drawnAheadMs } = this.#numbers
    // In this order: a number that is drawn meanwhile belongs to a transaction that a later `next` considers open.
    const fromMs = this.#nowMs()
    const number = await findNewest(this.#sql)
    const { oldest, next } = await findTransactions(this.#sql)
    const atMs = this.#nowMs()
    // Numbers that were not committed before a crash of PostgreSQL are drawn again after it.
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

  /** Moves the watermark: the rows after `from` at the last advance were processed. */
  confirm(): void {
    this.#seen.splice(0, this.#passed)
    this.#passed = 0
  }
}

/**
 * All transactions before `oldest` have ended; transactions that begin from now on have ids from `next` on. A snapshot ends
 * after the newest transaction that is over, so newer ones that are under way are looked for where PostgreSQL lists them:
 * with the lower half of their ids.
 */
async function findTransactions(db: Db): Promise<{ oldest: number; next: number }> {
  const [row] = await db<{ oldest: string; next: string; open: string[] }[]>`
    select pg_snapshot_xmin(now)::text as oldest, pg_snapshot_xmax(now)::text as next,
      array(select backend_xid::text from pg_stat_get_activity(null) where backend_xid is not null) as open
    from pg_current_snapshot() now`
  const [oldest, next] = [Number(row!.oldest), Number(row!.next)]
  return { oldest, next: Math.max(next, ...row!.open.map(xid => next + ((Number(xid) - next) | 0) + 1)) }
}
