import postgres from 'postgres'
import { arrayTypes } from './arrays.ts'
import { readHosts } from './driver/hosts.ts'
import { toPool } from './driver/pool.ts'

export type Sql = postgres.Sql<{ bigint: number }>
export type Tx = postgres.TransactionSql<{ bigint: number }>
/** A pool, a connection or a transaction: anything that runs a query. */
export type Db = Sql | Tx | ReservedSql
export type ReservedSql = postgres.ReservedSql<{ bigint: number }>
/** A value of a `jsonb` column. */
export type Json = postgres.JSONValue
/** A piece of SQL within a template. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

/**
 * The longest pause between two steps of a node's transaction, whose steps take about a millisecond. A node that was
 * stopped (a frozen virtual machine) blocks others for as long. A guess; longer than any garbage collection.
 */
export const idleInTransactionMs = 1_000

/**
 * As `pauseMs`, for background transactions, which lock no apps: on a server with 256 busy senders they waited for
 * longer than a second for the event loop, were ended by PostgreSQL, and began again (measured).
 */
export const backgroundIdleInTransactionMs = 5_000

/**
 * Judges each connection when it has been made, before anything else is asked on it: `judge` gets the row that the query
 * `text` finds, or the error of it, and returns the reason why the connection is not to be used. Called once for each
 * connection.
 */
export type Admission = () => { text: string; judge: (row: never, error?: unknown) => Error | null }

export interface ConnectionOptions {
  url: string
  /** Default: every connection is used. */
  admission?: Admission
  /** PostgreSQL cancels a statement that runs longer, so that a hanging query does not hold a request for ever. */
  statementTimeoutMs: number
  /**
   * PostgreSQL ends a transaction that is idle for longer: its owner hangs, and others wait for it. Default: twice
   * `statementTimeoutMs`.
   */
  idleTimeoutMs?: number
  /** How long a statement may wait for a lock. Default: without a limit of its own. */
  lockTimeoutMs?: number
  applicationName?: string
  /**
   * Plans each statement once, whatever its parameters (`plan_cache_mode = force_generic_plan`): for a few statements
   * that are repeated often.
   */
  genericPlans?: boolean
}

export interface SqlOptions extends ConnectionOptions {
  connections: number
  /** Called when a query gets a connection for which it had to wait. */
  waited?: (ms: number) => void
}

/** Ids and revs come from sequences that stay below 2^53, so they are read as numbers. */
const bigint = { to: 20, from: [20], parse: Number, serialize: String }

/**
 * Settings that postgres.js and the SQL of Parley rely on, whatever the defaults of database, role and server. Read
 * committed: a statement that has waited for a lock must see what was committed meanwhile.
 */
const requiredSettings = {
  DateStyle: 'ISO, YMD',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  default_transaction_isolation: 'read committed',
} as const

/**
 * PostgreSQL cancels a late statement itself; where even that is not reported in time, it is gone. A guess: time for
 * its answer to arrive.
 */
const graceMs = 5_000

/** Connecting to one of several servers may take this long before the next is tried. A guess. */
const nextHostSeconds = 3

/** A pool that connects on first use. */
export function openSql({ connections, waited, ...options }: SqlOptions): Sql {
  const deadlineMs = options.statementTimeoutMs + graceMs
  return toPool({ open: () => openConnection(options), size: connections, deadlineMs, ...(waited && { waited }) })
}

/**
 * One connection, opened on first use. Queries made while it is busy are pipelined, and answered in order; the caller
 * has to enforce a deadline.
 */
export function openConnection(options: ConnectionOptions): Sql {
  const { url, admission, statementTimeoutMs, applicationName = 'parley', genericPlans = false } = options
  const { idleTimeoutMs = statementTimeoutMs * 2, lockTimeoutMs } = options
  const found = readHosts(url)
  if (found === null) throw new Error('The URL of the database was not checked')
  const { hosts, ports } = found
  // The driver's types know of one host only.
  const servers: object = { host: hosts, port: ports, target_session_attrs: 'primary' }
  // Nor do they know what the patch adds.
  const judged: object = { admission }
  return postgres(found.url, {
    // `postgres://user@%2Fsome%2Ffolder:5432/name` means a Unix socket in that folder, which postgres.js does not
    // support.
    ...(hosts[0]?.startsWith('/') && { path: `${hosts[0]}/.s.PGSQL.${ports[0]}` }),
    // Among several servers, only the primary will do. With "read-write", postgres.js accepts a standby, because it
    // checks default_transaction_read_only alone; "primary" is what is meant.
    ...(hosts.length > 1 && servers),
    ...judged,
    max: 1,
    types: { bigint, ...arrayTypes },
    // A connection that was lost while asking for the types would have none; they are listed in arrays.ts.
    fetch_types: false,
    // postgres.js has no other deadline for a server that accepts a connection and then stays silent.
    connect_timeout: hosts.length > 1 ? nextHostSeconds : 10,
    // Seconds before a connection is tried again. The default grows to 20 s, and requests would wait as long.
    backoff: retries => Math.min(3 ** retries / 100, 0.5),
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    connection: {
      application_name: applicationName,
      statement_timeout: statementTimeoutMs,
      // `set` would be lost with a pooler in transaction mode; start-up parameters are kept.
      idle_in_transaction_session_timeout: idleTimeoutMs,
      ...requiredSettings,
      ...(lockTimeoutMs !== undefined && { lock_timeout: lockTimeoutMs }),
      ...(genericPlans && { plan_cache_mode: 'force_generic_plan' }),
    },
  }) as unknown as Sql
}

/** The number of rows that a query selects. */
export async function countRows(db: Db, rows: Fragment): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from (${rows}) r`
  return row!.count
}

/** The name of the unique index or foreign key that a write violated; null for any other error. */
export function violatedConstraint(error: unknown): string | null {
  if (!(error instanceof postgres.PostgresError) || !['23505', '23503'].includes(error.code)) return null
  return error.constraint_name ?? ''
}

/**
 * True where PostgreSQL ended a transaction because of other transactions: a deadlock (40P01), a serialization failure
 * (40001, where a pooler withholds `default_transaction_isolation`), or a lock timeout (55P03). A retry may well
 * succeed.
 */
export function isCollision(error: unknown): boolean {
  return error instanceof postgres.PostgresError && ['40P01', '40001', '55P03'].includes(error.code)
}
