import { systemClock, withTimeout } from '../../lib/clock.ts'
import { overloaded } from '../../lib/errors.ts'
import { isFenced, type StatementTexts, type WriteStatement } from '../../postgres/batch.ts'
import { statementLimit } from '../../postgres/driver/pool.ts'
import { isCollision, openConnection, idleInTransactionMs, type Db, type Sql } from '../../postgres/sql.ts'
import { movesAll, nowMs, toFence, type Attempt, type Expected } from './fence.ts'
import { drawsFor, IdPool, numbersOf, type DrawnIds } from '../../log/id-pool.ts'
import { toIdArray } from '../../postgres/arrays.ts'
import { listHeads } from '../store.ts'
import { listStoredResults, isIdempotencyRace, toStoredResults, type StoredResults } from './idempotency.ts'

/** The connection broke after a commit was sent: PostgreSQL may have committed it or not. */
export class OutcomeUnknown extends Error {}

/** What `begin` read under the locks: all that the decisions of a flush depend on. */
export interface Locked {
  /** App id → head rev, for the apps that exist. */
  heads: Map<number, number>
  /** As many numbers as asked for, ascending, larger than every rev of the locked apps. */
  ids: number[]
  /** Numbers beyond `ids`, for the pool once the transaction is committed. */
  ahead: DrawnIds
  /** The id of the transaction that holds the locks. */
  transaction: string
  /** The head rev of the shared log. */
  sharedRev: number
  /** The results that are stored under the idempotency keys. */
  storedResults: StoredResults
}

/** Why an optimistic commit wrote nothing. Where none of this explains it, its numbers were too old. */
export interface Conflict {
  /** Apps that others have written, or have locked, with their committed head rev; 0 for an app that is gone. */
  apps: Map<number, number>
  /** Hex of the idempotency keys that were stored before. */
  keys: Set<string>
  /** The head rev of the shared log. */
  sharedRev: number
}

/** What `begin` locks, looks up and draws. */
interface Lock {
  apps: number[]
  /** Idempotency keys to look up. */
  keys: Buffer[]
  /** How many numbers to draw for use now, and for the pool. */
  count: number
  ahead: number
  /** Leaves out apps that other transactions have locked, instead of waiting for them. */
  skipsLocked?: boolean
}

/**
 * How long after a collision optimistic commits lock the apps that they write, at a tenth more of PostgreSQL's time: far
 * longer than nodes take to agree which of them writes to an app. Without Redis they never do, and collide again. A guess.
 */
const locksMs = 1_000

/**
 * How long a group commit waits for a row that another node has locked, before it leaves out the locked apps. A guess:
 * far longer than a commit of a node that works.
 */
export const lockWaitMs = 100

/** The time limit of one step of a commit. Shorter than that of reads: all requests of the flush wait for the step. */
const stepSeconds = 10

/** Opens a connection with the time limits of nodes: its transactions hold locks that other nodes wait for. */
export function openCommitConnection(url: string, expectsCollisions: () => boolean): CommitConnection {
  const open = () =>
    openConnection({
      url,
      statementTimeoutMs: stepSeconds * 1000,
      idleTimeoutMs: idleInTransactionMs,
      lockTimeoutMs: lockWaitMs,
      genericPlans: true,
    })
  return new CommitConnection({ open, deadlineMs: (stepSeconds + 5) * 1000, expectsCollisions })
}

interface CommitConnectionOptions {
  /** Opens one connection. */
  open: () => Sql
  /** How long PostgreSQL may take for one step before the connection is given up. */
  deadlineMs: number
  /** True while other nodes may be writing to the apps that this one writes to. Default: false. */
  expectsCollisions?: () => boolean
}

/**
 * One connection for commits, one transaction at a time: `begin`, then `commit` or `rollback`; or `commitOptimistic`.
 * Owned by the committer. A connection that breaks or does not answer is closed, and a new one is opened.
 */
export class CommitConnection {
  readonly #open: () => Sql
  readonly #deadlineMs: number
  readonly #expectsCollisions: () => boolean
  /** Numbers that `commitOptimistic` may use. */
  readonly ids = new IdPool(() => performance.now())
  /** The statements that are prepared on this connection. */
  readonly #texts: StatementTexts = new Map()
  #collisions = 0
  /** Until then `commitOptimistic` locks the apps that it writes. */
  #locksUntilMs = 0
  #sql: Sql

  constructor({ open, deadlineMs, expectsCollisions = () => false }: CommitConnectionOptions) {
    this.#open = open
    this.#deadlineMs = deadlineMs
    this.#expectsCollisions = expectsCollisions
    this.#sql = open()
  }

  /** How often `commitOptimistic` has ended in a conflict so far. */
  get collisions(): number {
    return this.#collisions
  }

  /** For reads in the open transaction. */
  get db(): Db {
    return this.#sql
  }

  /**
   * Starts a transaction and locks the apps in id order, so that two nodes never wait for each other in a circle. The
   * numbers are drawn under the locks: PostgreSQL runs the statements of a connection in their order. One round trip.
   */
  async begin({ apps, keys, count, ahead, skipsLocked = false }: Lock): Promise<Locked> {
    this.#renew()
    const sql = this.#sql
    const waiting = skipsLocked ? sql`skip locked` : sql``
    const [, rows, [drawn], stored] = await this.withTimeout(
      Promise.all([
        // Waits for other transactions that have locked an app, as long as a step may take.
        sql.unsafe('begin; set local lock_timeout = 0').simple(),
        sql<{ id: number; head_rev: number }[]>`
          select id, head_rev from apps where id = any(${toIdArray(apps)}::bigint[]) order by id for no key update ${waiting}`,
        sql<{ numbers: string; transaction: string; environment: number; now_ms: number }[]>`
          select (select string_agg(nextval('numbers')::text, ',') from generate_series(1, ${drawsFor(count + ahead)}::int)) as numbers,
            ${sql.unsafe(nowMs)} as now_ms,
            pg_current_xact_id()::text as transaction, (select head_rev from environment) as environment`,
        keys.length === 0 ? [] : listStoredResults(sql, keys),
      ]),
    )
    if (drawn === undefined) throw new Error('The lock step found no environment row')
    const ids = toNumbers(drawn.numbers)
    return {
      heads: new Map(rows.map(row => [row.id, row.head_rev])),
      ids: ids.slice(0, count),
      ahead: { ids: ids.slice(count), atMs: drawn.now_ms },
      transaction: drawn.transaction,
      sharedRev: drawn.environment,
      storedResults: toStoredResults(stored),
    }
  }

  /**
   * Writes and commits in one round trip. `moved`: the number of apps that the statement writes. Rejects with
   * OutcomeUnknown where the answer was lost; with any other error nothing was written. Adds the numbers of `begin` to
   * the pool: until the commit, a crash of PostgreSQL could reset the sequence, and it would give the numbers out
   * again.
   */
  async commit(statement: WriteStatement, { transaction, ahead }: Locked, moved: number): Promise<void> {
    const written = this.#write(
      statement.finishInTransaction(transaction, this.#texts, { ...movesAll(statement), param: moved }),
    )
    // Outside a transaction a plain `commit` only warns, so that a lost transaction would look like a success.
    // `commit and chain` is an error there. The transaction that it opens is ended at once.
    const committed = this.#sql.unsafe('commit and chain; rollback').simple()
    const [write, commit] = await this.withTimeout(Promise.allSettled([written, committed]))
    // The transaction was lost, and the driver ran the statement on a new connection.
    if (write.status === 'rejected' && isFenced(write.reason)) throw overloaded()
    if (write.status === 'rejected' && isAnswer(write.reason)) throw write.reason
    if (write.status === 'rejected' || commit.status === 'rejected') {
      this.reset()
      throw new OutcomeUnknown('The connection broke while committing', {
        cause: write.status === 'rejected' ? write.reason : (commit as PromiseRejectedResult).reason,
      })
    }
    this.ids.put(ahead)
  }

  /**
   * Writes and commits in one round trip, without locks taken before. Returns null after the commit. Returns a Conflict
   * where an expectation does not hold, or the numbers are too old: then nothing was written. Rejects as `commit` does.
   * Adds numbers to the pool where the statement writes an app: for a transaction that writes nothing PostgreSQL does
   * not wait for the disk, so that a crash could undo the draw.
   *
   * The commit is atomic: all expectations hold at the moment in which it takes effect. Where collisions are expected, or
   * there was one lately, the statement locks the rows of the apps as it reads them, and skips locked rows: an app that
   * another node has locked is about to change, and counts as changed. So it waits for no other commit, takes part in no
   * deadlock over apps, does not delay other apps, and leaves no error in PostgreSQL's log. Otherwise it takes no such
   * locks; a lock of another node then delays it by at most `lockWaitMs`.
   */
  async commitOptimistic(statement: WriteStatement, expected: Expected): Promise<Conflict | null> {
    this.#renew()
    const locks = performance.now() < this.#locksUntilMs || this.#expectsCollisions()
    const fence = toFence(statement, expected, { refill: this.ids.refillSize(expected.count), locks })
    const written = this.#write<Attempt>(statement.finish(fence, this.#texts))
    try {
      const [attempt] = await this.withTimeout(written)
      if (!attempt!.holds) {
        this.#collide()
        return await this.withTimeout(this.#findConflict(expected, attempt!, locks))
      }
      if (expected.moved.length > 0) this.ids.put({ ids: toNumbers(attempt!.numbers), atMs: attempt!.now_ms })
      return null
    } catch (error) {
      // Another transaction wrote an app between this statement's read and its write. With locks the read notices it.
      if (!locks && (isFenced(error) || isCollision(error))) {
        this.#collide()
        return this.commitOptimistic(statement, expected)
      }
      // A race for an idempotency key, or for rows that belong to no app. Both sides decide again, under locks.
      if (isCollision(error) || isIdempotencyRace(error)) {
        this.#collide()
        return { apps: new Map(), keys: new Set(), sharedRev: expected.sharedRev }
      }
      if (isAnswer(error) || error instanceof OutcomeUnknown) throw error
      this.reset()
      throw new OutcomeUnknown('The connection broke while committing', { cause: error })
    }
  }

  /** Ends a transaction that wrote nothing or failed. Never rejects. */
  async rollback(): Promise<void> {
    try {
      await this.withTimeout(this.#sql.unsafe('rollback').simple())
    } catch {
      // PostgreSQL rolls back by itself when the connection is closed.
      this.reset()
    }
  }

  /** Closes the connection and opens another one. Statements in flight fail. */
  reset(): void {
    const old = this.#sql
    this.#sql = this.#open()
    this.#texts.clear()
    // Nothing uses the old connection any more, so an error while it closes has no effect.
    old.end({ timeout: 0 }).catch(() => {})
  }

  /** Opens another connection when this one has prepared too many statements. Called between transactions. */
  #renew(): void {
    if (this.#texts.size >= statementLimit) this.reset()
  }

  #write<Row extends object>({ text, params }: ReturnType<WriteStatement['finish']>) {
    return this.#sql.unsafe<Row[]>(text, params, { prepare: true })
  }

  #collide(): void {
    this.#collisions++
    this.#locksUntilMs = performance.now() + locksMs
  }

  /**
   * Finds why an attempt failed. A separate query, so that attempts that succeed, which are nearly all, do not pay for
   * it.
   */
  async #findConflict(
    { moved, unmoved }: Expected,
    { held, environment, keys }: Attempt,
    locks: boolean,
  ): Promise<Conflict> {
    const free = new Set(held?.split(',').map(Number))
    // An app that another node has locked counts as changed, whatever its head rev.
    const lost = locks ? moved.filter(({ id }) => !free.has(id)) : []
    const unknown = locks ? unmoved : [...moved, ...unmoved]
    const asked = [...lost, ...unknown].map(({ id }) => id)
    const heads = asked.length === 0 ? new Map<number, number>() : await listHeads(this.#sql, asked)
    const apps = [...lost, ...unknown.filter(({ id, head_rev }) => heads.get(id) !== head_rev)]
    return {
      apps: new Map(apps.map(({ id }) => [id, heads.get(id) ?? 0])),
      keys: new Set(keys?.split(',')),
      sharedRev: environment,
    }
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 5 })
  }

  /**
   * Resolves as `work` does. Beyond the time limit of a step, closes the connection and rejects with OutcomeUnknown.
   */
  async withTimeout<T>(work: Promise<T>): Promise<T> {
    const onTimeout = (): never => {
      this.reset()
      throw new OutcomeUnknown(`PostgreSQL did not answer within ${this.#deadlineMs} ms`)
    }
    return withTimeout(work, { clock: systemClock, timeoutMs: this.#deadlineMs, onTimeout })
  }
}

/**
 * True where PostgreSQL answered with an error, and so rolled back. That it is shutting down (57P…) is no such answer.
 */
export function isAnswer(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  return (error as Error).name === 'PostgresError' && typeof code === 'string' && !code.startsWith('57P')
}

/** The numbers of several draws, from the first numbers as PostgreSQL joins them; null where there is none. */
function toNumbers(firsts: string | null): number[] {
  return numbersOf(firsts?.split(',').map(Number) ?? [])
}
