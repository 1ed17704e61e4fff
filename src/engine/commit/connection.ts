import { systemClock, withTimeout } from '../../lib/clock.ts'
import { overloaded } from '../../lib/errors.ts'
import { isFenced, type Fence, type StatementTexts, type WriteStatement } from '../../postgres/batch.ts'
import { statementLimit } from '../../postgres/driver/pool.ts'
import {
  isCollision,
  openConnection,
  idleInTransactionMs,
  type Admission,
  type Db,
  type Sql,
} from '../../postgres/sql.ts'
import {
  movesAll,
  nowMs,
  toAppendFence,
  toExactFence,
  type AppendAttempt,
  type Attempt,
  type Assignment,
  type Expected,
} from './flush/fence.ts'
import { drawsFor, IdPool, numbersOf, type DrawnIds } from '../../log/id-pool.ts'
import { lockHeads, type Head } from '../store.ts'
import { listStoredResults, isIdempotencyRace, toStoredResults, type StoredResults } from './idempotency.ts'

/** The connection broke after a commit was sent: PostgreSQL may have committed it or not. */
export class OutcomeUnknown extends Error {}

/** What `begin` read under the locks: all that the decisions of a flush depend on. */
export interface Locked {
  /** App id → where the app is, for the apps that exist and are locked. */
  heads: Map<number, Head>
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

/** The outcome of `commitAppending`. */
export interface Appended {
  /** False where nothing was written: the shared log has moved, a key is stored already, or the numbers are too old. */
  holds: boolean
  /** App id → what was assigned to its new items and events, for the apps that were written. */
  held: Map<number, Assignment>
  /** The apps that decisions read and that have the expected head rev. */
  still: Set<number>
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
 * How long after a collision commits append instead of expecting all apps as they were: that takes a tenth more of
 * PostgreSQL's time, and a collision a round trip. A guess.
 */
const appendsMs = 1_000

/**
 * How long a group commit waits for a row that another node has locked, before it leaves out the locked apps. A guess:
 * far longer than a commit of a node that works.
 */
export const lockWaitMs = 100

/** The time limit of one step of a commit. Shorter than that of reads: all requests of the flush wait for the step. */
const stepSeconds = 10

/** Opens a connection with the time limits of nodes: its transactions hold locks that other nodes wait for. */
export function openCommitConnection(url: string, admission: Admission): CommitConnection {
  const open = () =>
    openConnection({
      url,
      admission,
      statementTimeoutMs: stepSeconds * 1000,
      idleTimeoutMs: idleInTransactionMs,
      lockTimeoutMs: lockWaitMs,
      genericPlans: true,
    })
  return new CommitConnection({ open, deadlineMs: (stepSeconds + 5) * 1000 })
}

interface CommitConnectionOptions {
  /** Opens one connection. */
  open: () => Sql
  /** How long PostgreSQL may take for one step before the connection is given up. */
  deadlineMs: number
}

/**
 * One connection for commits, one transaction at a time: `begin`, then `commit` or `rollback`; or `commitExact` or
 * `commitAppending` in one round trip.
 * Owned by the committer. A connection that breaks or does not answer is closed, and a new one is opened.
 */
export class CommitConnection {
  readonly #open: () => Sql
  readonly #deadlineMs: number
  /** Numbers that commits of one round trip may use. */
  readonly ids = new IdPool(() => performance.now())
  /** The statements that are prepared on this connection. */
  readonly #texts: StatementTexts = new Map()
  #collisions = 0
  #appendsUntilMs = 0
  #sql: Sql

  constructor({ open, deadlineMs }: CommitConnectionOptions) {
    this.#open = open
    this.#deadlineMs = deadlineMs
    this.#sql = open()
  }

  /** How often the commits of other nodes were in the way so far. */
  get collisions(): number {
    return this.#collisions
  }

  /** True where other nodes lately wrote to the apps that this one writes to: `commitExact` would probably fail. */
  get appends(): boolean {
    return performance.now() < this.#appendsUntilMs
  }

  /** Records that another node wrote to an app that this one writes to. */
  collide(): void {
    this.#collisions++
    this.#appendsUntilMs = performance.now() + appendsMs
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
        lockHeads(sql, apps, waiting),
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
      heads: new Map(rows.map(row => [row.id, row])),
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
   * Writes and commits in one round trip, without locks taken before. True after the commit. False where an app has moved,
   * another expectation does not hold, or the numbers are too old: then nothing was written. Rejects as `commit` does.
   * The commit is atomic: all expectations hold at the moment in which it takes effect. A lock of another node delays it
   * by at most `lockWaitMs`.
   */
  async commitExact(statement: WriteStatement, expected: Expected): Promise<boolean> {
    try {
      const fence = toExactFence(statement, expected, this.ids.refillSize(expected.count))
      const attempt = await this.#attempt<Attempt>(statement, fence)
      if (attempt.holds) return true
    } catch (error) {
      // Another transaction wrote an app between this statement's read and its write, or a key was stored meanwhile.
      if (!isFenced(error) && !isCollision(error) && !isIdempotencyRace(error)) throw error
    }
    this.collide()
    return false
  }

  /**
   * As `commitExact`, for the apps alone whose locks the statement gets at once and that its decisions hold for. It
   * assigns numbers and times to what has offsets. Null where it met another transaction in rows that belong to no app, or in an
   * idempotency key.
   */
  async commitAppending(statement: WriteStatement, expected: Expected, at: Date): Promise<Appended | null> {
    try {
      const fence = toAppendFence(statement, expected, this.ids.refillSize(expected.count), at)
      const { holds, held, still, keys, environment } = await this.#attempt<AppendAttempt>(statement, fence)
      return {
        holds,
        held: new Map(held?.map(assignment => [assignment.id, assignment])),
        still: new Set(still?.split(',').map(Number)),
        keys: new Set(keys?.split(',')),
        sharedRev: environment,
      }
    } catch (error) {
      if (!isCollision(error) && !isIdempotencyRace(error)) throw error
      return null
    }
  }

  /**
   * Runs a statement that commits by itself. Adds the numbers that it has drawn to the pool: it draws where it writes
   * an app, since for a transaction that writes nothing PostgreSQL does not wait for the disk, so that a crash could
   * undo the draw.
   */
  async #attempt<Row extends Attempt>(statement: WriteStatement, fence: Fence): Promise<Row> {
    this.#renew()
    try {
      const [attempt] = await this.withTimeout(this.#write<Row>(statement.finish(fence, this.#texts)))
      if (attempt!.numbers !== null) this.ids.put({ ids: toNumbers(attempt!.numbers), atMs: attempt!.now_ms })
      return attempt!
    } catch (error) {
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
