import { pause, systemClock, withTimeout } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { openSql, type Sql } from './sql.ts'
import { batchLoads } from './batch-loads.ts'
import { isUnavailable } from './unavailable.ts'

interface ReplicaOptions {
  primary: Sql
  url: string
  connections: number
  statementTimeoutMs: number
  log: Log
}

/** Where a server is in the log of writes, and in which history of it: a promotion begins another one. */
interface Position {
  bytes: number
  timeline: number
  deployment: string
}

/** How long a replica may take to say where it is, and for how long one that did not is left alone. Guesses. */
const answerMs = 250
const restMs = 1_000

/** A replica is usually some milliseconds behind: it is asked so often, with such pauses, before the primary is. Guesses. */
const attempts = 3
const pauseMs = 5

/**
 * A replica of the database, for reads that take long. A read goes there only when the replica has everything that was
 * committed before the read was asked for, through whichever node: readers see their own writes. One that is behind, gone,
 * promoted, or of another database is passed by, and the primary is read. Costs a small query of each of the two, shared by
 * all reads of a moment. Ended by `close`.
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
  #restsUntil = 0
  #reads = 0

  constructor({ primary, url, log, ...options }: ReplicaOptions) {
    this.#primary = primary
    this.#sql = openSql({ url, ...options, applicationName: 'parley replica' })
    this.#log = log
  }

  /** Reads that the replica has answered. */
  get reads(): number {
    return this.#reads
  }

  /** Runs queries that only read on the replica, or on the primary; on both where the replica fails in the middle. */
  async read<Result>(run: (sql: Sql) => Promise<Result>): Promise<Result> {
    if (!(await this.#isCurrent())) return run(this.#primary)
    try {
      const result = await run(this.#sql)
      this.#reads++
      return result
    } catch (error) {
      // What took too long there would take too long here.
      if (!isUnavailable(error) || (error as { code?: string }).code === '57014') throw error
      this.#rest(error)
      return run(this.#primary)
    }
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 1 })
  }

  async #isCurrent(): Promise<boolean> {
    if (performance.now() < this.#restsUntil) return false
    const committed = (await this.#findCommitted(this.#primary, ['position'])).get('position')!
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const replayed = await this.#askReplica()
      if (replayed === null || replayed.timeline !== committed.timeline) return false
      if (replayed.deployment !== committed.deployment) {
        this.#rest(new Error('DATABASE_REPLICA_URL names a replica of another database'))
        return false
      }
      if (replayed.bytes >= committed.bytes) return true
      if (attempt < attempts) await pause(systemClock, pauseMs)
    }
    return false
  }

  /** Null where it does not answer, or is no replica any more. */
  async #askReplica(): Promise<Position | null> {
    const onTimeout = (): never => {
      throw new Error(`The replica has not answered for ${answerMs} ms`)
    }
    try {
      const asked = this.#findReplayed(this.#sql, ['position'])
      const found = await withTimeout(asked, { clock: systemClock, timeoutMs: answerMs, onTimeout })
      return found.get('position') ?? null
    } catch (error) {
      this.#rest(error)
      return null
    }
  }

  #rest(error: unknown): void {
    const now = performance.now()
    if (now >= this.#restsUntil) this.#log.warn({ error }, 'The replica is not used for now; the primary is read')
    this.#restsUntil = now + restMs
  }
}

/** What is visible to anybody was flushed before: no commit that a reader may have heard of is behind it. */
async function findCommitted(sql: Sql): Promise<Position> {
  const [row] = await sql<[Position]>`
    select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint as bytes,
      (select timeline_id from pg_control_checkpoint()) as timeline, deployment
    from environment`
  return row
}

async function findReplayed(sql: Sql): Promise<Position | null> {
  const [row] = await sql<[Position & { is_replica: boolean }]>`
    select pg_is_in_recovery() as is_replica, pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint as bytes,
      (select timeline_id from pg_control_checkpoint()) as timeline, deployment
    from environment`
  return row.is_replica ? row : null
}
