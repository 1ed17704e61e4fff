import { overloaded } from '../lib/errors.ts'
import { isFenced, type WriteStatement } from '../storage/batch.ts'
import { statementLimit } from '../storage/pool.ts'
import { isCollision, openConnection, pauseMs, type Db, type Sql } from '../storage/sql.ts'
import { drawnAtOnce, Stock, usableMs, type Drawn } from './stock.ts'
import { isKeyTaken, saveApps, saveHeads } from './store.ts'

/** Set when nobody can say whether a commit took place: the connection broke after it was sent. */
export class OutcomeUnknown extends Error {}

/** What the lock step found: everything that decisions of this flush depend on. */
export interface Locked {
  /** App id → newest rev, for the apps that exist. */
  heads: Map<number, number>
  /** As many as asked for, ascending, larger than every rev of the locked apps. */
  numbers: number[]
  /** Those beyond, for the stock once they are committed. */
  ahead: Drawn
  /** Id of the transaction that holds the locks. */
  transaction: string
  /** Newest rev of what belongs to no app. */
  environment: number
  /** Hex of the idempotency keys found → what was stored for them. */
  once: Map<string, { request: Buffer; result: unknown }>
}

/** What was known when a flush was decided without a lock. */
interface Known {
  /** How many apps the statement moves: it does so only from the rev that they were known to have. */
  moved: number
  /** The other apps that something was decided about. */
  still: { id: number; head_rev: number }[]
  environment: number
  /** When the numbers that it uses were drawn. */
  drawnAtMs: number
  /** How many of them it could take. */
  count: number
}

/** Time for one step of a commit. Its requests wait for as long, so it is shorter than what reads may take. */
const stepSeconds = 10

/** A lane as nodes have them. Its transactions hold the locks of apps that other nodes wait for. */
export function openLane(url: string): Lane {
  const open = () =>
    openConnection({ url, statementTimeoutMs: stepSeconds * 1000, idleTimeoutMs: pauseMs, plansOnce: true })
  return new Lane({ open, deadlineMs: (stepSeconds + 5) * 1000 })
}

interface LaneOptions {
  /** Opens one connection. */
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
  /** Numbers at hand for `commitIf`. */
  readonly stock = new Stock(() => performance.now())
  /** What was prepared on this connection. */
  readonly #texts = new Set<string>()
  #collisions = 0
  #sql: Sql

  constructor({ open, deadlineMs }: LaneOptions) {
    this.#open = open
    this.#deadlineMs = deadlineMs
    this.#sql = open()
  }

  /** How often `commitIf` has come to nothing so far. */
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
  async begin(apps: number[], keys: Buffer[], count: number, ahead: number): Promise<Locked> {
    this.#renew()
    const sql = this.#sql
    const [, rows, [drawn], stored] = await this.inTime(
      Promise.all([
        sql.unsafe('begin').simple(),
        sql<{ id: number; head_rev: number }[]>`
          select id, head_rev from apps where id = any(${toIdArray(apps)}::bigint[]) order by id for no key update`,
        sql<{ numbers: string; transaction: string; environment: number; now_ms: number }[]>`
          select (select string_agg(nextval('numbers')::text, ',') from generate_series(1, ${drawsFor(count + ahead)}::int)) as numbers,
            (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
            pg_current_xact_id()::text as transaction, (select head_rev from environment) as environment`,
        keys.length === 0 ? [] : findOnce(sql, keys),
      ]),
    )
    if (drawn === undefined) throw new Error('The lock step found no environment row')
    const numbers = toNumbers(drawn.numbers)
    return {
      heads: new Map(rows.map(row => [row.id, row.head_rev])),
      numbers: numbers.slice(0, count),
      ahead: { numbers: numbers.slice(count), atMs: drawn.now_ms },
      transaction: drawn.transaction,
      environment: drawn.environment,
      once: new Map(stored.map(row => [row.key.toString('hex'), row])),
    }
  }

  /**
   * Writes and commits in one round trip. `moved`: how many apps it moves. Rejects with OutcomeUnknown where the answer
   * got lost; with any other error nothing was written. Fills the stock: before, a crash of PostgreSQL could take the
   * sequence back to before the numbers that `begin` drew.
   */
  async commit(statement: WriteStatement, { transaction, ahead }: Locked, moved: number): Promise<void> {
    const { text, params } = statement.finishIn(transaction, place => movesAll(statement, place(moved)))
    const written = this.#write(text, params)
    // Outside a transaction a plain `commit` only warns, so that a lost transaction would look like a success.
    // `and chain` is an error there; the transaction that it opens is ended at once.
    const committed = this.#sql.unsafe('commit and chain; rollback').simple()
    const [write, commit] = await this.inTime(Promise.allSettled([written, committed]))
    // The transaction was lost, and the statement came to a new connection.
    if (write.status === 'rejected' && isFenced(write.reason)) throw overloaded()
    if (write.status === 'rejected' && isAnswer(write.reason)) throw write.reason
    if (write.status === 'rejected' || commit.status === 'rejected') {
      this.reset()
      throw new OutcomeUnknown('The connection broke while committing', {
        cause: write.status === 'rejected' ? write.reason : (commit as PromiseRejectedResult).reason,
      })
    }
    this.stock.put(ahead)
  }

  /**
   * Writes and commits without a lock what was decided on what was known, in one round trip. False where that no longer
   * holds, or the numbers are too old: then nothing was written. Rejects as `commit` does. Fills the stock where it moves
   * an app: PostgreSQL waits for no disk where nothing was written, so that a crash could undo the draw.
   *
   * The commit takes effect at one moment, in which the apps and the environment were as they were known to be: whoever
   * has written since the statement began has moved the rev of an app's row, which is looked at when the row is written.
   */
  async commitIf(statement: WriteStatement, { moved, still, environment, drawnAtMs, count }: Known): Promise<boolean> {
    this.#renew()
    const now = `(extract(epoch from clock_timestamp()) * 1000)::bigint`
    const { text, params } = statement.finish(place => {
      const ids = place(toIdArray(still.map(({ id }) => id)))
      const heads = place(toIdArray(still.map(({ head_rev }) => head_rev)))
      // In this order: the age of numbers counts once the transaction has its place in the order of transactions.
      return {
        holds: `case when ${movesAll(statement, place(moved))}
          and not exists (
            select from unnest(${ids}::bigint[], ${heads}::bigint[]) k(id, head_rev)
            left join apps a on a.id = k.id where a.head_rev is distinct from k.head_rev)
          and (select head_rev from environment) = ${place(environment)}::bigint
          then ${now} - ${place(drawnAtMs)}::bigint < ${usableMs} else false end`,
        returning: `${now} as now_ms,
          (select string_agg(nextval('numbers')::text, ',')
            from generate_series(1, ${place(moved > 0 ? drawsFor(this.stock.toDraw(count)) : 0)}::int)) as numbers`,
      }
    })
    const written = this.#write<{ now_ms: number; numbers: string }>(text, params)
    try {
      const [drawn] = await this.inTime(written)
      if (moved > 0) this.stock.put({ numbers: toNumbers(drawn!.numbers), atMs: drawn!.now_ms })
      this.stock.trust()
      return true
    } catch (error) {
      // Also where two nodes moved the same apps, each waiting for the other.
      if (isFenced(error) || isCollision(error) || isKeyTaken(error)) {
        this.#collisions++
        if (!isKeyTaken(error)) this.stock.distrust()
        return false
      }
      if (isAnswer(error) || error instanceof OutcomeUnknown) throw error
      this.reset()
      throw new OutcomeUnknown('The connection broke while committing', { cause: error })
    }
  }

  /** Ends a transaction that wrote nothing, or failed. Never rejects. */
  async rollback(): Promise<void> {
    try {
      await this.inTime(this.#sql.unsafe('rollback').simple())
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
    // Nobody waits for the old connection any more, so nobody can do anything about how it ends.
    old.end({ timeout: 0 }).catch(() => {})
  }

  /** Only between transactions. */
  #renew(): void {
    if (this.#texts.size >= statementLimit) this.reset()
  }

  #write<Row extends object>(text: string, params: WriteStatement['params']) {
    this.#texts.add(text)
    return this.#sql.unsafe<Row[]>(text, params, { prepare: true })
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 5 })
  }

  /** What `work` gives; where that takes longer than a step may, the connection is given up, and with it what runs there. */
  async inTime<T>(work: Promise<T>): Promise<T> {
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

/** A condition: each app was moved, from the rev that it was known to have, and by nobody else in this statement. */
function movesAll(statement: WriteStatement, moved: string): string {
  const written = [saveHeads, saveApps].filter(batch => statement.has(batch))
  const counts = written.map(({ name }) => `(select count(*) from ${name})`)
  return `${[0, ...counts].join(' + ')} = ${moved}::int`
}

/** True where PostgreSQL answered with an error: then it rolled back. Its own end (57P…) is no such answer. */
export function isAnswer(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  return (error as Error).name === 'PostgresError' && typeof code === 'string' && !code.startsWith('57P')
}

function drawsFor(numbers: number): number {
  return Math.ceil(numbers / drawnAtOnce)
}

/** All that were drawn, ascending, from the first of each draw. */
function toNumbers(firsts: string | null): number[] {
  if (firsts === null) return []
  return firsts.split(',').flatMap(first => Array.from({ length: drawnAtOnce }, (_, at) => Number(first) + at))
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
