import { StartFault } from '../lib/errors.ts'
import type { Sql } from './sql.ts'

interface Database {
  major: number
  encoding: string
  is_read_only: boolean
  role: string
  /** Null where the search path names none that exists. */
  schema: string | null
  may_create: boolean | null
}

const another =
  "Make another one: create database parley template template0 encoding 'UTF8' locale 'C.UTF-8' (or a locale such as " +
  'en_US.UTF-8).'

/** Refuses a database that Parley cannot work with: one StartFault with all reasons, each with the way out. */
export async function requireFit(sql: Sql): Promise<void> {
  const [database] = await sql<[Database]>`
    select current_setting('server_version_num')::int / 10000 as major, current_setting('server_encoding') as encoding,
      current_setting('transaction_read_only')::boolean as is_read_only, current_user as role, current_schema() as schema,
      has_schema_privilege(current_schema(), 'create') as may_create`
  const faults = await findFaults(sql, database)
  if (faults.length > 0) throw new StartFault(['The database cannot be used:', ...faults].join('\n  - '))
}

async function findFaults(sql: Sql, database: Database): Promise<string[]> {
  const { major, encoding, is_read_only, role, schema, may_create } = database
  const faults: string[] = []
  if (major < 15) faults.push(`PostgreSQL ${major} is too old: Parley needs PostgreSQL 15 or newer.`)
  if (encoding !== 'UTF8') faults.push(`Its encoding is ${encoding}, not UTF8. ${another}`)
  else if (!(await hasUnicodeCase(sql))) {
    faults.push(`By its locale, capitals are not always the same letters as small ones: É and é, I and i. ${another}`)
  }
  if (is_read_only) {
    faults.push('It is read-only: connect to the primary, and see that default_transaction_read_only is off.')
  }
  if (schema === null)
    faults.push('Its search_path names no schema that exists. Create that schema, or reset search_path.')
  else if (may_create !== true) {
    faults.push(`The role ${role} may not create tables: grant create on schema ${schema} to ${role}.`)
  }
  return faults
}

/** Uids and names are looked up and kept apart by their small letters. Only databases in UTF8 can be asked. */
async function hasUnicodeCase(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ is_unicode: boolean }]>`select lower('IÉ') = 'ié' as is_unicode`
  return row.is_unicode
}
