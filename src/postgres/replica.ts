import { pause, systemClock, withTimeout } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { endWith } from './driver/ending.ts'
import { openSql, type Admission, type Db, type Sql } from './sql.ts'
import { batchLoads } from './batch-loads.ts'
import { isUnavailable } from './unavailable.ts'

interface ReplicaOptions {
  primary: Sql
  url: string
  /** Refuses connections to what is no replica of this database. */
  admission: Admission
  connections: number
  statementTimeoutMs: number
  log: Log
}

/** A position in the write-ahead log, and the history of the database (log/epoch.ts): a promotion begins another one. */
interface Position {
  bytes: number
  epoch: string
}

/** How long a replica may take to report its position, and for how long one that did not is skipped. Guesses. */
const answerTimeoutMs = 250
const skipMs = 1_000

/**
 * A replica usually lags by some milliseconds: it is asked this often, with these pauses, before the primary is read.
 * Guesses.
 */
const attempts = 3
const pauseMs = 5

/**
 * A read replica, for reads that take long. A read goes to it only when it has everything that was committed, through
 * any node, before the read was asked for: readers see their own writes. A replica that lags, does not answer, was
 * promoted, or belongs to another database is skipped, and the primary is read. Costs a small query to each of the two,
 * shared by concurrent reads. Ended by `close`.
 */
export class Replica {
  readonly #primary: Sql
  readonly #sql: Sql
  readonly #log: Log
  readonly #findCommitted = batchLoads<'position', Position>(
    async sql => new Map([['position', await findCommitted(sql)]]),
  )
  readonly #findReplayed = batchLoads<'position', Position | null>(
    async sql => new Map([['position', await findReplayed(sql)]]),
  )
  #skippedUntil = 0
  #reads = 0

  constructor({ primary, url, log, ...options }: ReplicaOptions) {
    this.#primary = primary
    this.#sql = openSql({ url, ...options, applicationName: 'parley replica' })
    this.#log = log
  }

  /** The number of reads that the replica has answered. */
  get reads(): number {
    return this.#reads
  }

  /**
   * Runs read-only queries on the replica or on the primary; again on the primary where the replica fails on the way.
   * They end with the signal, if there is one.
   */
  async read<Result>(run: (sql: Sql) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const viewed = (sql: Sql) => (signal === undefined ? sql : endWith(sql, signal))
    if (!(await this.#isCurrent())) return run(viewed(this.#primary))
    try {
      const result = await run(viewed(this.#sql))
      this.#reads++
      return result
    } catch (error) {
      // A statement that timed out there would time out here too.
      if (!isUnavailable(error) || (error as { code?: string }).code === '57014') throw error
      this.#skip(error)
      return run(viewed(this.#primary))
    }
  }

  /** The replica for one request: its reads end with the signal. */
  endWith(signal: AbortSignal): Pick<Replica, 'read'> {
    return { read: run => this.read(run, signal) }
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 1 })
  }

  async #isCurrent(): Promise<boolean> {
    if (performance.now() < this.#skippedUntil) return false
    const committed = (await this.#findCommitted(this.#primary, ['position'])).get('position')!
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const replayed = await this.#askReplica()
      if (replayed === null || replayed.epoch !== committed.epoch) return false
      if (replayed.bytes >= committed.bytes) return true
      if (attempt < attempts) await pause(systemClock, pauseMs)
    }
    return false
  }

  /** Null where it does not answer, or is no replica any more. */
  async #askReplica(): Promise<Position | null> {
    const onTimeout = (): never => {
      throw new Error(`The replica has not answered for ${answerTimeoutMs} ms`)
    }
    try {
      const asked = this.#findReplayed(this.#sql, ['position'])
      const found = await withTimeout(asked, { clock: systemClock, timeoutMs: answerTimeoutMs, onTimeout })
      return found.get('position') ?? null
    } catch (error) {
      this.#skip(error)
      return null
    }
  }

  #skip(error: unknown): void {
    const now = performance.now()
    if (now >= this.#skippedUntil) this.#log.warn({ error }, 'The replica is not used for now; the primary is read')
    this.#skippedUntil = now + skipMs
  }
}

/** Every commit that a reader may have seen has been flushed, so its position is not beyond this one. */
async function findCommitted(sql: Db): Promise<Position> {
  const [row] = await sql<[Position]>`
    select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint as bytes, epoch from environment`
  return row
}

async function findReplayed(sql: Db): Promise<Position | null> {
  const [row] = await sql<[Position & { is_replica: boolean }]>`
    select pg_is_in_recovery() as is_replica, pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint as bytes,
      epoch
    from environment`
  return row.is_replica ? row : null
}
