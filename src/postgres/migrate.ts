import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pause, systemClock } from '../lib/clock.ts'
import { StartFault } from '../lib/errors.ts'
import { requireFit } from './fitness.ts'
import type { Log } from '../lib/log.ts'
import type { ReservedSql, Sql, Tx } from './sql.ts'

const schemaFolder = join(import.meta.dirname, 'schema')

/** The files of the schema, in an order in which each needs only what those before it make. */
export const schemaFiles = [
  ...['words', 'names', 'search'],
  ...['files', 'people', 'apps', 'content', 'parts', 'notifications', 'webhooks', 'agents', 'deployment'],
]

/** What an empty database begins with, under the number before the first migration. */
const schemaName = '0000_schema'

const ownFolder = join(import.meta.dirname, 'migrations')

/** An arbitrary fixed number: nodes that start together take turns on this advisory lock. */
const migrationLock = 7_213_001

const migrationsTable = `
  create table if not exists migrations (name text primary key, applied_at timestamptz not null);
  alter table migrations add column if not exists digest text`

/** How long a migration may block others while it waits for a lock, and the pause before it tries again. Guesses. */
const lockTimeoutMs = 1_000
const lockPauseMs = 2_000

/** Three minutes in all: longer than any transaction of Parley, and than most backups hold a table. */
const lockAttempts = 60

/** The schema or a numbered file, with a digest that tells it from one of equal name in another build. */
interface Migration {
  name: string
  text: string
  digest: string
}

/**
 * Brings the database up to date: makes the schema in an empty one, and runs each missing migration once, in order, each
 * in a transaction of its own without a time limit. StartFault where the database is not fit for Parley, or was made by a
 * newer version, by one before 0.9.0, or by different files.
 */
export async function migrate(sql: Sql, log: Log, folder = ownFolder): Promise<void> {
  await requireFit(sql, log)
  const migrations = readMigrations(folder)
  const connection = await sql.reserve()
  try {
    // Migrating a large table takes long, and so does waiting for another node that does.
    await connection`set statement_timeout = 0`
    await acquireLock(connection, log)
    await connection.unsafe(migrationsTable)
    const applied = await connection<Omit<Migration, 'text'>[]>`select name, digest from migrations`
    requireUnchanged(migrations, applied)
    const done = new Set(applied.map(({ name }) => name))
    const missing = migrations.filter(({ name }) => !done.has(name))
    if (missing.length > 0) log.info({ migrations: missing.map(({ name }) => name) }, 'The database is being migrated')
    for (const migration of missing) await applyWithRetries(connection, migration, log)
  } finally {
    await connection`select pg_advisory_unlock(${migrationLock})`
    await connection`reset statement_timeout`
    connection.release()
  }
}

/** The digests of this version's schema and migrations, by name. */
export function listOwnMigrations(folder = ownFolder): Map<string, string> {
  return new Map(readMigrations(folder).map(({ name, digest }) => [name, digest]))
}

/**
 * Makes the schema and runs the named migrations in an empty database, within the caller's transaction. Run `migrate`
 * afterwards for the missing ones.
 */
export async function makeSchema(tx: Tx, names: ReadonlySet<string>, folder = ownFolder): Promise<void> {
  await tx`select pg_advisory_xact_lock(${migrationLock})`
  await tx.unsafe(migrationsTable)
  for (const { name, text, digest } of readMigrations(folder)) {
    if (names.has(name)) await tx.unsafe(`${text}; insert into migrations values ('${name}', now(), '${digest}')`)
  }
}

/** Keeps nodes from starting until this connection ends: they wait, as for one that migrates. */
export async function holdMigrations(sql: Sql): Promise<void> {
  await sql`select pg_advisory_lock(${migrationLock})`
}

async function acquireLock(connection: ReservedSql, log: Log): Promise<void> {
  const [row] = await connection<[{ is_mine: boolean }]>`select pg_try_advisory_lock(${migrationLock}) as is_mine`
  if (row.is_mine) return
  log.info({}, 'Another node migrates the database: waiting for it')
  await connection`select pg_advisory_lock(${migrationLock})`
}

/**
 * Nodes of the earlier version keep working meanwhile. A change of a table waits for the transactions that use it, and
 * all later ones wait for the change: so it waits only briefly, gives way, and tries again.
 */
async function applyWithRetries(connection: ReservedSql, migration: Migration, log: Log): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await apply(connection, migration)
    } catch (error) {
      if (!isLockFailure(error)) throw error
      if (attempt === lockAttempts) {
        throw new StartFault(
          `The migration ${migration.name} gave way ${attempt} times to what uses the tables that it changes. Start again ` +
            'when less is going on, or look for long transactions in pg_stat_activity.',
          { cause: error },
        )
      }
      log.warn({ migration: migration.name, attempt }, 'A migration gives way to what is under way, and is tried again')
      await pause(systemClock, lockPauseMs)
    }
  }
}

/** True where the migration waited too long for a lock, or ran into a deadlock. */
function isLockFailure(error: unknown): boolean {
  return ['55P03', '40P01'].includes((error as { code?: string }).code ?? '')
}

async function apply(connection: ReservedSql, { name, text, digest }: Migration): Promise<void> {
  try {
    await connection.unsafe(
      `begin; set local lock_timeout = ${lockTimeoutMs}; ${text}; ` +
        `insert into migrations values ('${name}', now(), '${digest}'); commit`,
    )
  } catch (error) {
    // Left open, the failed transaction would refuse every later statement.
    await connection`rollback`
    throw error
  }
}

/** The schema, and the migrations in the order of their numbers. */
function readMigrations(folder: string): Migration[] {
  const schema = schemaFiles.map(name => readFileSync(join(schemaFolder, `${name}.sql`), 'utf8')).join('\n')
  const names = readdirSync(folder).filter(name => name.endsWith('.sql'))
  return [
    toMigration(schemaName, schema),
    ...names.sort().map(name => toMigration(name, readFileSync(join(folder, name), 'utf8'))),
  ]
}

function toMigration(name: string, text: string): Migration {
  return { name, text, digest: createHash('sha256').update(text).digest('hex') }
}

/** StartFault unless what was applied is among the files, unchanged. */
function requireUnchanged(migrations: Migration[], applied: Omit<Migration, 'text'>[]): void {
  if (applied.length > 0 && !applied.some(({ name }) => name === schemaName)) {
    throw new StartFault(
      'The database was made by a version of Parley before 0.9.0, and this version cannot bring it up to date. Start with ' +
        'a new DATA_DIR or DATABASE_URL. To take out what the old database holds, start the version that made it, and read ' +
        'it through the API.',
    )
  }
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
