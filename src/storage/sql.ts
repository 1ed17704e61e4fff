import postgres from 'postgres'

export type Sql = postgres.Sql<{ bigint: number }>
export type Tx = postgres.TransactionSql<{ bigint: number }>
/** Either a pool or a transaction: what a query needs. */
export type Db = Sql | Tx | ReservedSql
export type ReservedSql = postgres.ReservedSql<{ bigint: number }>
/** A piece of SQL inside a template. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

export interface SqlOptions {
  url: string
  connections: number
  /** Ends a statement that runs longer: a query that hangs must not hold a request for ever. */
  statementTimeoutMs: number
  applicationName?: string
}

/** Ids and revs are drawn from sequences that will not pass 2^53, so they are read as numbers. */
const bigint = { to: 20, from: [20], parse: Number, serialize: String }

/** Opens a pool. Connects on first use. */
export function openSql({ url, connections, statementTimeoutMs, applicationName = 'parley' }: SqlOptions): Sql {
  return postgres(url, {
    max: connections,
    types: { bigint },
    // postgres.js has no deadline of its own when the server accepts a connection and then falls silent.
    connect_timeout: 10,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    connection: {
      application_name: applicationName,
      statement_timeout: statementTimeoutMs,
      // `set` would be lost with a pooler in transaction mode; as start-up parameters they hold.
      idle_in_transaction_session_timeout: statementTimeoutMs * 2,
    },
  }) as unknown as Sql
}

/** True for the unique violation of one constraint or index. */
export function isDuplicate(error: unknown, constraint?: string): boolean {
  if (!(error instanceof postgres.PostgresError) || error.code !== '23505') return false
  return constraint === undefined || error.constraint_name === constraint
}

/** True where PostgreSQL itself refused the statement, so that it certainly had no effect. */
export function isRefused(error: unknown): boolean {
  return error instanceof postgres.PostgresError && !error.code.startsWith('57P')
}
