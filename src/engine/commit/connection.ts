import { systemClock, withTimeout } from '../../lib/clock.ts'
import { overloaded } from '../../lib/errors.ts'
import { isFenced, type StatementTexts, type WriteStatement } from '../../postgres/batch.ts'
import { statementLimit } from '../../postgres/driver/pool.ts'
import { isCollision, openConnection, idleInTransactionMs, type Db, type Sql } from '../../postgres/sql.ts'
import { drawsFor, movesAll, nowMs, toFence, type AppRev, type Attempt, type Expected } from './fence.ts'
import { idsPerDraw, IdPool, type DrawnIds } from '../../log/id-pool.ts'
import { toIdArray } from '../../postgres/arrays.ts'
import { listStoredResults, isIdempotencyRace, toStoredResults, type StoredResults } from './idempotency.ts'

/** The connection broke after a commit was sent: it may have taken place, or not. */
export class OutcomeUnknown extends Error {}

/** What the lock step found: everything that decisions of this flush depend on. */
export interface Locked {
  /** App id → newest rev, for the apps that exist. */
  heads: Map<number, number>
  /** As many as asked for, ascending, larger than every rev of the locked apps. */
  ids: number[]
  /** Numbers beyond `ids`, for the pool once the transaction is committed. */
  ahead: DrawnIds
  /** Id of the transaction that holds the locks. */
  transaction: string
  /** Newest rev of what belongs to no app. */
  sharedRev: number
  /** What is stored under the idempotency keys. */
  storedResults: StoredResults
}

/** Why nothing was written; where nothing of this is the case, the numbers were too old. */
export interface Conflict {
  /** Apps that have moved, or are being written by others, with their newest committed rev; 0 for one that is gone. */
  apps: Map<number, number>
  /** Hex of the idempotency keys that were stored before. */
  keys: Set<string>
  /** The newest rev of what belongs to no app. */
  sharedRev: number
}

/** What to lock, and to draw, before something is decided. */
interface Lock {
  apps: number[]
  /** Idempotency keys to look up. */
  keys: Buffer[]
  /** How many numbers to draw for use now, and for the pool. */
  count: number
  ahead: number
  /** Leaves out apps that others have locked, instead of waiting for them. */
  skipsLocked?: boolean
}

/**
 * How long after a collision apps are locked before they are moved, which takes a tenth more of PostgreSQL's time: where
 * nodes write to the same apps, they go on doing so. A guess.
 */
const locksMs = 60_000

/**
 * How long a group commit waits for a row that another node has locked, before it gives up and leaves out what is locked.
 * A guess: far longer than the commit of a node that lives.
 */
export const lockWaitMs = 100

/** Time for one step of a commit. Its requests wait for as long, so it is shorter than what reads may take. */
const stepSeconds = 10

/** As nodes have them. Its transactions hold the locks of apps that other nodes wait for. */
export function openCommitConnection(url: string): CommitConnection {
  const open = () =>
    openConnection({
      url,
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
 * One connection for commits, one transaction at a time: `begin`, then `commit` or `rollback`; or `commitOptimistic`.
 * Owned by the committer. A connection that breaks or falls silent is thrown away with everything on it and a new one is made.
 */
export class CommitConnection {
  readonly #open: () => Sql
  readonly #deadlineMs: number
  /** Numbers at hand for `commitOptimistic`. */
  readonly ids = new IdPool(() => performance.now())
  /** What was prepared on this connection. */
  readonly #texts: StatementTexts = new Map()
  #collisions = 0
  /** Until then other nodes are expected to write to the same apps. */
  #locksUntilMs = 0
  #sql: Sql

  constructor({ open, deadlineMs }: CommitConnectionOptions) {
    this.#open = open
    this.#deadlineMs = deadlineMs
    this.#sql = open()
  }

  /** How often `commitOptimistic` has come to nothing so far. */
  get collisions(): number {
    return this.#collisions
  }

  /** For reads that belong to the transaction. */
  get db(): Db {
    return this.#sql
  }

  /**
   * Starts a transaction and locks the apps, in id order so that two nodes never wait for each other in a circle.
   * The numbers are drawn after the locks: PostgreSQL runs the statements of a connection one after the other. One
   * round trip.
   */
  async begin({ apps, keys, count, ahead, skipsLocked = false }: Lock): Promise<Locked> {
    this.#renew()
    const sql = this.#sql
    const waiting = skipsLocked ? sql`skip locked` : sql``
    const [, rows, [drawn], stored] = await this.withTimeout(
      Promise.all([
        // Here it waits for transactions that locked an app before, as long as a step may take.
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
   * Writes and commits in one round trip. `moved`: how many apps it moves. Rejects with OutcomeUnknown where the answer
   * got lost; with any other error nothing was written. Fills the pool: before, a crash of PostgreSQL could take the
   * sequence back to before the numbers that `begin` drew.
   */
  async commit(statement: WriteStatement, { transaction, ahead }: Locked, moved: number): Promise<void> {
    const written = this.#write(
      statement.finishInTransaction(transaction, this.#texts, { ...movesAll(statement), param: moved }),
    )
    // Outside a transaction a plain `commit` only warns, so that a lost transaction would look like a success.
    // `and chain` is an error there; the transaction that it opens is ended at once.
    const committed = this.#sql.unsafe('commit and chain; rollback').simple()
    const [write, commit] = await this.withTimeout(Promise.allSettled([written, committed]))
    // The transaction was lost, and the statement came to a new connection.
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
   * Writes and commits in one round trip, without a lock taken before, what was decided on what was known. Where that no
   * longer holds, or the numbers are too old, nothing was written: then it says why, and null where it was written.
   * Rejects as `commit` does. Fills the pool where it moves an app: PostgreSQL waits for no disk where nothing was
   * written, so that a crash could undo the draw.
   *
   * The commit takes effect at one moment, in which the apps and the environment were as they were known to be. Where
   * apps moved elsewhere lately, the rows of the apps are locked as they are looked at. Then it waits for no other commit:
   * an app that another node has locked is about to move, and counts as moved. So it is never part of a deadlock over
   * apps, and never delays other apps. Where no other node writes to the apps it does without these locks; a lock of another
   * node then delays it by at most `lockWaitMs`.
   */
  async commitOptimistic(statement: WriteStatement, expected: Expected): Promise<Conflict | null> {
    this.#renew()
    const locks = performance.now() < this.#locksUntilMs
    const fence = toFence(statement, expected, { refill: this.ids.refillSize(expected.count), locks })
    const written = this.#write<Attempt>(statement.finish(fence, this.#texts))
    try {
      const [attempt] = await this.withTimeout(written)
      if (!attempt!.holds) {
        this.#collide()
        return await this.withTimeout(this.#findConflict(expected, attempt!))
      }
      if (expected.moved.length > 0) this.ids.put({ ids: toNumbers(attempt!.numbers), atMs: attempt!.now_ms })
      return null
    } catch (error) {
      // While this statement looked at an app and moved it, another one did. With locks that is seen before.
      if (!locks && (isFenced(error) || isCollision(error))) {
        this.#collide()
        return this.commitOptimistic(statement, expected)
      }
      // Both ends of a race, for one key or for rows that belong to no app; each is decided again under locks.
      if (isCollision(error) || isIdempotencyRace(error)) {
        this.#collide()
        return { apps: new Map(), keys: new Set(), sharedRev: expected.sharedRev }
      }
      if (isAnswer(error) || error instanceof OutcomeUnknown) throw error
      this.reset()
      throw new OutcomeUnknown('The connection broke while committing', { cause: error })
    }
  }

  /** Ends a transaction that wrote nothing, or failed. Never rejects. */
  async rollback(): Promise<void> {
    try {
      await this.withTimeout(this.#sql.unsafe('rollback').simple())
    } catch {
      // A connection that cannot even roll back is given up; PostgreSQL then rolls back by itself.
      this.reset()
    }
  }

  /** Throws the connection away. What was running on it fails. */
  reset(): void {
    const old = this.#sql
    this.#sql = this.#open()
    this.#texts.clear()
    // Nothing waits for the old connection any more, so how it ends changes nothing.
    old.end({ timeout: 0 }).catch(() => {})
  }

  /** Only between transactions. */
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
   * Finds what was in the way of an attempt. A query of its own, so that attempts that succeed, nearly all, do not pay
   * for it.
   */
  async #findConflict({ moved, unmoved }: Expected, { held, environment, keys }: Attempt): Promise<Conflict> {
    const free = new Set(held?.split(',').map(Number))
    const lost = moved.filter(({ id }) => !free.has(id))
    const asked = [...lost, ...unmoved].map(({ id }) => id)
    const rows =
      asked.length === 0
        ? []
        : await this.#sql<AppRev[]>`select id, head_rev from apps where id = any(${toIdArray(asked)}::bigint[])`
    const heads = new Map(rows.map(row => [row.id, row.head_rev]))
    const apps = [...lost, ...unmoved.filter(({ id, head_rev }) => heads.get(id) !== head_rev)]
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
   * What `work` gives; where that takes longer than a step may, the connection is given up, and with it what runs
   * there.
   */
  async withTimeout<T>(work: Promise<T>): Promise<T> {
    const onTimeout = (): never => {
      this.reset()
      throw new OutcomeUnknown(`PostgreSQL did not answer within ${this.#deadlineMs} ms`)
    }
    return withTimeout(work, { clock: systemClock, timeoutMs: this.#deadlineMs, onTimeout })
  }
}

/** True where PostgreSQL answered with an error: then it rolled back. Its own end (57P…) is no such answer. */
export function isAnswer(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  return (error as Error).name === 'PostgresError' && typeof code === 'string' && !code.startsWith('57P')
}

/** All that were drawn, ascending, from the first of each draw. */
function toNumbers(firsts: string | null): number[] {
  if (firsts === null) return []
  return firsts.split(',').flatMap(first => Array.from({ length: idsPerDraw }, (_, at) => Number(first) + at))
}
