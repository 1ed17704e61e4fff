import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartFault } from '../lib/errors.ts'
import type { Sql } from './sql.ts'

const folder = join(import.meta.dirname, 'migrations')

/** Any fixed number: two nodes that start together take turns on it. */
const migrationLock = 7_213_001

/**
 * Brings the schema up to date: each numbered file once, in order, each in a transaction of its own.
 * Refuses a database that was migrated by a newer version, and PostgreSQL older than 15.
 */
export async function migrate(sql: Sql): Promise<void> {
  await requireVersion(sql)
  const files = readdirSync(folder)
    .filter(name => name.endsWith('.sql'))
    .sort()
  const connection = await sql.reserve()
  try {
    await connection`select pg_advisory_lock(${migrationLock})`
    await connection`create table if not exists migrations (name text primary key, applied_at timestamptz not null)`
    const applied = new Set((await connection<{ name: string }[]>`select name from migrations`).map(row => row.name))
    const unknown = [...applied].filter(name => !files.includes(name))
    if (unknown.length > 0) {
      throw new StartFault(
        `The database was migrated by a newer version of Parley (it has ${unknown.join(', ')}). Start that version.`,
      )
    }
    for (const name of files) {
      if (applied.has(name)) continue
      const text = readFileSync(join(folder, name), 'utf8')
      await connection.unsafe(`begin; ${text}; insert into migrations values ('${name}', now()); commit`)
    }
  } finally {
    await connection`select pg_advisory_unlock(${migrationLock})`
    connection.release()
  }
}

async function requireVersion(sql: Sql): Promise<void> {
  const [row] = await sql<{ server_version_num: string }[]>`show server_version_num`
  const major = Math.floor(Number(row?.server_version_num) / 10_000)
  if (major < 15) throw new StartFault(`PostgreSQL ${major} is too old: Parley needs PostgreSQL 15 or newer.`)
}
