import { StartFault } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Sql } from './sql.ts'

interface Database {
  major: number
  encoding: string
  is_read_only: boolean
  synchronous_commit: string
  role: string
  /** Null where the search path names no schema that exists. */
  schema: string | null
  may_create: boolean | null
}

const suggestion =
  "A database that fits: create database parley template template0 encoding 'UTF8' locale 'C.UTF-8' (or a locale such as " +
  'en_US.UTF-8).'

/**
 * Refuses a database that Parley cannot work with: one StartFault that lists all reasons with their remedies. Logs a
 * warning where the encoding knows only the letters of ASCII.
 */
export async function requireFit(sql: Sql, log: Log): Promise<void> {
  const [database] = await sql<[Database]>`
    select current_setting('server_version_num')::int / 10000 as major, current_setting('server_encoding') as encoding,
      current_setting('transaction_read_only')::boolean as is_read_only,
      current_setting('synchronous_commit') as synchronous_commit, current_user as role, current_schema() as schema,
      has_schema_privilege(current_schema(), 'create') as may_create`
  const faults = findFaults(database)
  if (faults.length > 0) throw new StartFault(['The database cannot be used:', ...faults].join('\n  - '))
  if (database.encoding === 'UTF8') return
  log.warn(
    { encoding: database.encoding },
    `By the encoding of the database, É and é are different letters in uids, names and searches. ${suggestion}`,
  )
}

/** Encodings that can hold any text; SQL_ASCII stores bytes without looking at them. */
const usableEncodings = new Set(['UTF8', 'SQL_ASCII'])

function findFaults({
  major,
  encoding,
  is_read_only,
  synchronous_commit,
  role,
  schema,
  may_create,
}: Database): string[] {
  const faults: string[] = []
  if (major < 15) faults.push(`PostgreSQL ${major} is too old: Parley needs PostgreSQL 15 or newer.`)
  if (!usableEncodings.has(encoding)) faults.push(`Its encoding is ${encoding}, not UTF8. ${suggestion}`)
  if (is_read_only) {
    faults.push('It is read-only: connect to the primary, and see that default_transaction_read_only is off.')
  }
  // All other values wait at least for this server's own disk.
  if (synchronous_commit === 'off') {
    faults.push(
      'It confirms what is not on disk yet: set synchronous_commit to on, for the server, the database and the role.',
    )
  }
  if (schema === null)
    faults.push('Its search_path names no schema that exists. Create that schema, or reset search_path.')
  else if (may_create !== true) {
    faults.push(`The role ${role} may not create tables: grant create on schema ${schema} to ${role}.`)
  }
  return faults
}
