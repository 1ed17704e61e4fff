import type { Db, Sql } from '../storage/sql.ts'
import { WriteStatement } from '../storage/batch.ts'

/** Set when nobody can say whether a commit took place: the connection broke after it was sent. */
export class OutcomeUnknown extends Error {}

/** What the lock step found: everything that decisions of this flush depend on. */
export interface Locked {
  /** App id → newest rev, for the apps that exist. */
  heads: Map<number, number>
  /** As many as asked for, ascending, larger than every rev of the locked apps. */
  numbers: number[]
  /** Id of the transaction that holds the locks. */
  transaction: string
  /** Newest rev of what belongs to no app. */
  environment: number
  /** Hex of the idempotency keys found → what was stored for them. */
  once: Map<string, { request: Buffer; result: unknown }>
}

interface LaneOptions {
  /** Opens a pool of one connection. */
  open: () => Sql
  /** How long PostgreSQL may take for one step before the lane gives its connection up. */
  deadlineMs: number
}

/**
 * One connection for commits, one transaction at a time: `begin`, then `commit` or `rollback`. Owned by the
 * committer. A connection that breaks or falls silent is thrown away with everything on it and a new one is made.
 */
export class Lane {
  readonly #open: () => Sql
  readonly #deadlineMs: number
  #sql: Sql

  constructor({ open, deadlineMs }: LaneOptions) {
    this.#open = open
    this.#deadlineMs = deadlineMs
    this.#sql = open()
  }

  /** For reads that belong to the transaction. */
  get db(): Db {
    return this.#sql
  }

  /**
   * Starts a transaction and locks the apps, in id order so that two nodes never wait for each other in a circle.
   * The numbers are drawn after the locks: PostgreSQL runs the statements of a connection one after the other.
   * One round trip.
   */
  async begin(apps: number[], count: number, keys: Buffer[]): Promise<Locked> {
    const sql = this.#sql
    const [, rows, [drawn], stored] = await this.#inTime(
      Promise.all([
        sql.unsafe('begin').simple(),
        sql<{ id: number; head_rev: number }[]>`
          select id, head_rev from apps where id = any(${toIdArray(apps)}::bigint[]) order by id for no key update`,
        sql<{ numbers: string; transaction: string; environment: number }[]>`
          select (select string_agg(nextval('numbers')::text, ',') from generate_series(1, ${count}::int)) as numbers,
            pg_current_xact_id()::text as transaction, (select head_rev from environment) as environment`,
        keys.length === 0 ? [] : findOnce(sql, keys),
      ]),
    )
    if (drawn === undefined) throw new Error('The lock step found no environment row')
    return {
      heads: new Map(rows.map(row => [row.id, row.head_rev])),
      numbers: (drawn.numbers ?? '').split(',').map(Number),
      transaction: drawn.transaction,
      environment: drawn.environment,
      once: new Map(stored.map(row => [row.key.toString('hex'), row])),
    }
  }

  /**
   * Writes and commits in one round trip. Rejects with OutcomeUnknown where the answer got lost; with any other error
   * nothing was written.
   */
  async commit(statement: WriteStatement, transaction: string): Promise<void> {
    const { text, params } = statement.finish(transaction)
    const sql = this.#sql
    const written = sql.unsafe(text, params, { prepare: true })
    // Outside a transaction a plain `commit` only warns, so that a lost transaction would look like a success.
    // `and chain` is an error there; the transaction that it opens is ended at once.
    const committed = sql.unsafe('commit and chain; rollback').simple()
    const [write, commit] = await this.#inTime(Promise.allSettled([written, committed]))
    if (write.status === 'rejected' && isAnswer(write.reason)) throw write.reason
    if (write.status === 'rejected' || commit.status === 'rejected') {
      this.reset()
      throw new OutcomeUnknown('The connection broke while committing', {
        cause: write.status === 'rejected' ? write.reason : (commit as PromiseRejectedResult).reason,
      })
    }
  }

  /** Ends a transaction that wrote nothing, or failed. Never rejects. */
  async rollback(): Promise<void> {
    try {
      await this.#inTime(this.#sql.unsafe('rollback').simple())
    } catch {
      // A connection that cannot even roll back is given up; PostgreSQL then rolls back by itself.
      this.reset()
    }
  }

  /** Throws the connection away. What was running on it fails. */
  reset(): void {
    const old = this.#sql
    this.#sql = this.#open()
    // Nobody waits for the old connection any more, so nobody can do anything about how it ends.
    old.end({ timeout: 0 }).catch(() => {})
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 5 })
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.reset()
        reject(new OutcomeUnknown(`PostgreSQL did not answer within ${this.#deadlineMs} ms`))
      }, this.#deadlineMs)
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }
}

/** True where PostgreSQL answered with an error: then it rolled back. Its own end (57P…) is no such answer. */
function isAnswer(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  return (error as Error).name === 'PostgresError' && typeof code === 'string' && !code.startsWith('57P')
}

function findOnce(sql: Sql, keys: Buffer[]): Promise<{ key: Buffer; request: Buffer; result: unknown }[]> {
  return sql<{ key: Buffer; request: Buffer; result: unknown }[]>`
    select key, request, result from idempotency where key = any(${toBytesArray(keys)}::bytea[])`
}

/** The same for bytes: of these, postgres.js would make a single value instead of an array. */
function toBytesArray(keys: Buffer[]): string {
  return `{${keys.map(key => `"\\\\x${key.toString('hex')}"`).join(',')}}`
}

/** An array literal, which postgres.js passes on as it is. */
function toIdArray(ids: number[]): string {
  return `{${ids.join(',')}}`
}
