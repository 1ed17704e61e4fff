import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartFault } from '../lib/errors.ts'
import { requireFit } from './fitness.ts'
import type { Log } from '../lib/log.ts'
import type { ReservedSql, Sql } from './sql.ts'

const folder = join(import.meta.dirname, 'migrations')

/** Any fixed number: two nodes that start together take turns on it. */
const migrationLock = 7_213_001

/** A numbered file, and what tells it from one of the same name in another version. */
interface Migration {
  name: string
  text: string
  digest: string
}

/**
 * Brings the schema up to date: each numbered file once, in order, each in a transaction of its own, for as long as it
 * takes. Refuses a database that is not fit for it, and one whose schema was made by a newer version, or by other files
 * than these.
 */
export async function migrate(sql: Sql, log: Log): Promise<void> {
  await requireFit(sql, log)
  const migrations = readMigrations()
  const connection = await sql.reserve()
  try {
    // A large table takes its time, and so does another node that migrates it.
    await connection`set statement_timeout = 0`
    await takeTurn(connection, log)
    await connection`create table if not exists migrations (name text primary key, applied_at timestamptz not null)`
    await connection`alter table migrations add column if not exists digest text`
    const applied = await connection<Omit<Migration, 'text'>[]>`select name, digest from migrations`
    requireSame(migrations, applied)
    const done = new Set(applied.map(({ name }) => name))
    const missing = migrations.filter(({ name }) => !done.has(name))
    if (missing.length > 0) log.info({ migrations: missing.map(({ name }) => name) }, 'The database is being migrated')
    for (const migration of missing) await apply(connection, migration)
  } finally {
    await connection`select pg_advisory_unlock(${migrationLock})`
    await connection`reset statement_timeout`
    connection.release()
  }
}

async function takeTurn(connection: ReservedSql, log: Log): Promise<void> {
  const [row] = await connection<[{ is_mine: boolean }]>`select pg_try_advisory_lock(${migrationLock}) as is_mine`
  if (row.is_mine) return
  log.info({}, 'Another node migrates the database: waiting for it')
  await connection`select pg_advisory_lock(${migrationLock})`
}

async function apply(connection: ReservedSql, { name, text, digest }: Migration): Promise<void> {
  try {
    await connection.unsafe(`begin; ${text}; insert into migrations values ('${name}', now(), '${digest}'); commit`)
  } catch (error) {
    // Left open, it would refuse all that comes next with an error of its own.
    await connection`rollback`
    throw error
  }
}

function readMigrations(): Migration[] {
  const names = readdirSync(folder).filter(name => name.endsWith('.sql'))
  return names.sort().map(name => {
    const text = readFileSync(join(folder, name), 'utf8')
    return { name, text, digest: createHash('sha256').update(text).digest('hex') }
  })
}

/** What was applied must be among the files, as they are. */
function requireSame(migrations: Migration[], applied: Omit<Migration, 'text'>[]): void {
  const known = new Map(migrations.map(({ name, digest }) => [name, digest]))
  const unknown = applied.filter(({ name }) => !known.has(name)).map(({ name }) => name)
  if (unknown.length > 0) {
    throw new StartFault(
      `The database was migrated by a newer version of Parley (it has ${unknown.join(', ')}). Start that version.`,
    )
  }
  const other = applied.filter(({ name, digest }) => known.get(name) !== digest).map(({ name }) => name)
  if (other.length > 0) {
    throw new StartFault(
      `The database was made by another build of Parley (its ${other.join(', ')} differ). Start that build, or this one ` +
        'with another DATA_DIR or DATABASE_URL.',
    )
  }
}
