import postgres from 'postgres'
import { arrayTypes } from './arrays.ts'
import { readHosts, type DatabaseHosts } from './driver/hosts.ts'
import { toPool } from './driver/pool.ts'

export type Sql = postgres.Sql<{ bigint: number }>
export type Tx = postgres.TransactionSql<{ bigint: number }>
/** Either a pool or a transaction: what a query needs. */
export type Db = Sql | Tx | ReservedSql
export type ReservedSql = postgres.ReservedSql<{ bigint: number }>
/** What a `jsonb` column takes. */
export type Json = postgres.JSONValue
/** A piece of SQL inside a template. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

/**
 * Time between two steps of a node's transaction, which take a millisecond: for as long, a node that was stopped (a frozen
 * virtual machine) holds up the others. A guess; longer than collecting garbage ever takes.
 */
export const pauseMs = 1_000

/**
 * The same for transactions of the background, which hold no apps: on a server with 256 busy senders these waited for
 * longer than a second for their turn, were ended by PostgreSQL, and began again (measured).
 */
export const backgroundPauseMs = 5_000

export interface ConnectionOptions {
  url: string
  /** Ends a statement that runs longer: a query that hangs must not hold a request for ever. */
  statementTimeoutMs: number
  /** Ends a transaction in which nothing happens: whoever it belongs to hangs, and others wait. Default: twice the above. */
  idleTimeoutMs?: number
  /** How long a statement waits for what another one has locked; without, as long as it may take. */
  lockTimeoutMs?: number
  applicationName?: string
  /** Plans each statement once, not for its parameters: for the same few, again and again. */
  plansOnce?: boolean
}

export interface SqlOptions extends ConnectionOptions {
  connections: number
  /** Called when a query gets a connection for which it had to wait. */
  waited?: (ms: number) => void
}

/** Ids and revs are drawn from sequences that will not pass 2^53, so they are read as numbers. */
const bigint = { to: 20, from: [20], parse: Number, serialize: String }

/**
 * What postgres.js and our SQL take texts and transactions for, whatever a database, a role or a server has as its
 * default. Who waits for a lock wants to see what was committed meanwhile.
 */
const assumed = {
  DateStyle: 'ISO, YMD',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  default_transaction_isolation: 'read committed',
} as const

/** PostgreSQL ends a statement by itself before; where it does not, it is gone. A guess: time for its answer to arrive. */
const graceMs = 5_000

/** How long one of several servers may take to let a connection in, before the next is tried. A guess. */
const nextHostSeconds = 3

/** Connects on first use. */
export function openSql({ connections, waited, ...options }: SqlOptions): Sql {
  const deadlineMs = options.statementTimeoutMs + graceMs
  return toPool({ open: () => openConnection(options), size: connections, deadlineMs, ...(waited && { waited }) })
}

/**
 * One connection, made on first use. What is asked while it is busy is sent off at once, and answered in order; whoever
 * asks sees to it that there is an answer.
 */
export function openConnection(options: ConnectionOptions): Sql {
  const { url, statementTimeoutMs, applicationName = 'parley', plansOnce = false } = options
  const { idleTimeoutMs = statementTimeoutMs * 2, lockTimeoutMs } = options
  const { url: firstUrl, hosts, ports } = requireHosts(url)
  return postgres(firstUrl, {
    // `postgres://user@%2Fsome%2Ffolder:5432/name` means a Unix socket in that folder, which postgres.js does not know.
    ...(hosts[0]?.startsWith('/') && { path: `${hosts[0]}/.s.PGSQL.${ports[0]}` }),
    // Of several servers one is the primary. postgres.js takes a standby for one that can be written to ("read-write"
    // looks at default_transaction_read_only alone); "primary" is what is meant.
    ...(hosts.length > 1 && toSeveral(hosts, ports)),
    max: 1,
    types: { bigint, ...arrayTypes },
    // A connection that was ended while it asked for them would have no array types; they are known, see arrays.ts.
    fetch_types: false,
    // postgres.js has no deadline of its own when the server accepts a connection and then falls silent.
    connect_timeout: hosts.length > 1 ? nextHostSeconds : 10,
    // Seconds before a connection is tried anew. Its own choice grows to 20, and requests would wait as long.
    backoff: retries => Math.min(3 ** retries / 100, 0.5),
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    connection: {
      application_name: applicationName,
      statement_timeout: statementTimeoutMs,
      // `set` would be lost with a pooler in transaction mode; as start-up parameters they hold.
      idle_in_transaction_session_timeout: idleTimeoutMs,
      ...assumed,
      ...(lockTimeoutMs !== undefined && { lock_timeout: lockTimeoutMs }),
      ...(plansOnce && { plan_cache_mode: 'force_generic_plan' }),
    },
  }) as unknown as Sql
}

function toSeveral(hosts: string[], ports: number[]): { target_session_attrs: 'primary' } {
  // The types know of one host only.
  const servers: object = { host: hosts, port: ports }
  return { ...servers, target_session_attrs: 'primary' }
}

function requireHosts(url: string): DatabaseHosts {
  const hosts = readHosts(url)
  if (hosts === null) throw new Error('The URL of the database was not checked')
  return hosts
}

/** The unique index or foreign key that a write ran into; null for any other error. */
export function violatedConstraint(error: unknown): string | null {
  if (!(error instanceof postgres.PostgresError) || !['23505', '23503'].includes(error.code)) return null
  return error.constraint_name ?? ''
}

/**
 * True where PostgreSQL ended a transaction for the sake of others: each waited for the other, one waited for longer than
 * it may, or a pooler keeps our settings from it and they are isolated by default. Done again, it may well succeed.
 */
export function isCollision(error: unknown): boolean {
  return error instanceof postgres.PostgresError && ['40P01', '40001', '55P03'].includes(error.code)
}
