import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { listOwnMigrations, makeSchema, migrate, schemaFiles } from '../../src/postgres/migrate.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const postgres = join(import.meta.dirname, '../../src/postgres')
const fresh = 'template template0'

/** A folder of migrations, by their names. */
function createMigrations(texts: Record<string, string>) {
  const path = mkdtempSync(join(tmpdir(), 'parley-migrations-'))
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(path, name), text)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

const listApplied = async (sql: Sql) =>
  (await sql<{ name: string }[]>`select name from migrations order by name`).map(({ name }) => name)

test('each file of the schema is made, and migrations are numbered from 1 on without a gap', () => {
  expect(readdirSync(join(postgres, 'schema')).toSorted()).toEqual(schemaFiles.map(name => `${name}.sql`).toSorted())
  const [schema, ...migrations] = [...listOwnMigrations().keys()]
  expect(schema).toBe('0000_schema')
  expect(migrations.map(name => /^\d{4}(?=_[a-z_]+\.sql$)/.exec(name)?.[0])).toEqual(
    migrations.map((_, i) => String(i + 1).padStart(4, '0')),
  )
})

test('a fresh database gets the schema and then the migrations; one that is there gets those that it lacks', async () => {
  await using one = await createDatabase(fresh)
  await using other = await createDatabase(fresh)
  using before = createMigrations({ '0001_one.sql': 'create table one ()' })
  using after = createMigrations({ '0001_one.sql': 'create table one ()', '0002_two.sql': 'alter table one add a int' })

  await migrate(one.sql, createLog('error'), before.path)
  await migrate(one.sql, createLog('error'), after.path)
  await migrate(other.sql, createLog('error'), after.path)

  expect(await listApplied(one.sql)).toEqual(['0000_schema', '0001_one.sql', '0002_two.sql'])
  expect(await listApplied(other.sql)).toEqual(await listApplied(one.sql))
  expect(await listColumns(other.sql)).toEqual(await listColumns(one.sql))
})

test('a migration that was changed after it had run is refused', async () => {
  await using database = await createDatabase(fresh)
  using before = createMigrations({ '0001_one.sql': 'create table one ()' })
  using changed = createMigrations({ '0001_one.sql': 'create table one (a int)' })
  await migrate(database.sql, createLog('error'), before.path)

  await expect(migrate(database.sql, createLog('error'), changed.path)).rejects.toThrow('its 0001_one.sql differ')
})

test('a backup of an earlier version gets the schema of then, and the next start brings it up to date', async () => {
  await using database = await createDatabase(fresh)
  using later = createMigrations({ '0001_one.sql': 'create table one ()', '0002_two.sql': 'create table two ()' })

  await database.sql.begin(tx => makeSchema(tx, new Set(['0000_schema', '0001_one.sql']), later.path))
  expect(await listApplied(database.sql)).toEqual(['0000_schema', '0001_one.sql'])

  await migrate(database.sql, createLog('error'), later.path)
  expect(await listApplied(database.sql)).toEqual(['0000_schema', '0001_one.sql', '0002_two.sql'])
})

test('what nodes of a version before write and read is still there after the migrations, and new columns may be left out', async () => {
  await using database = await createDatabase(fresh)

  expect(await findContractions(database.sql)).toEqual([])
})

test.each([
  ['alter table users drop column comment', 'users.comment is gone'],
  ['alter table users alter comment type int using 0', 'users.comment was text and is int4'],
  ['alter table webhooks alter secret set not null', 'webhooks.secret must be given now'],
  ['alter table webhooks add more int not null', 'webhooks.more is new and must be given'],
  ['create unique index one_comment on users (comment)', 'one_comment is a new rule of users'],
])('%s would stop them', async (text, fault) => {
  await using database = await createDatabase(fresh)
  using migrations = createMigrations({ '0001_contract.sql': text })

  expect(await findContractions(database.sql, migrations.path)).toEqual([fault])
})

test('a migration that has to wait gives way to what comes later, and is applied when the table is free', async () => {
  await using database = await createDatabase(fresh)
  using none = createMigrations({})
  await migrate(database.sql, createLog('error'), none.path)
  using migrations = createMigrations({ '0001_later.sql': 'alter table users add column later text' })
  const reader = await database.sql.reserve()
  await reader`begin`
  await reader`select count(*) from users`

  const logged: string[] = []
  const migrated = migrate(
    database.sql,
    createLog('warn', line => logged.push(line)),
    migrations.path,
  )
  await eventually(async () => {
    const waiting = await database.sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    expect(waiting).toHaveLength(1)
  })
  // It waits behind the migration, which gives way after a second.
  await database.sql`select count(*) from users`
  await eventually(() => expect(logged.join()).toContain('gives way'))
  await reader`commit`
  reader.release()
  await migrated

  expect((await listColumns(database.sql)).has('users.later')).toBe(true)
})

/** What the migrations take away from a database that has the schema alone. */
async function findContractions(sql: Sql, folder?: string): Promise<string[]> {
  using none = createMigrations({})
  await migrate(sql, createLog('error'), none.path)
  const [columns, constraints] = [await listColumns(sql), await listConstraints(sql)]
  await migrate(sql, createLog('error'), folder)
  const later = await listColumns(sql)
  const faults: string[] = []
  for (const [name, { type, isNeeded }] of columns) {
    const now = later.get(name)
    if (now === undefined) faults.push(`${name} is gone`)
    else if (now.type !== type) faults.push(`${name} was ${type} and is ${now.type}`)
    else if (now.isNeeded && !isNeeded) faults.push(`${name} must be given now`)
  }
  const tables = new Set([...columns.keys()].map(tableOf))
  for (const [name, { isNeeded }] of later) {
    if (isNeeded && !columns.has(name) && tables.has(tableOf(name))) faults.push(`${name} is new and must be given`)
  }
  for (const [name, table] of await listConstraints(sql)) {
    if (!constraints.has(name) && tables.has(table)) faults.push(`${name} is a new rule of ${table}`)
  }
  return faults
}

const tableOf = (column: string) => column.split('.')[0]!

/** Each column, and whether an insert must give a value for it. */
async function listColumns(sql: Sql): Promise<Map<string, { type: string; isNeeded: boolean }>> {
  const rows = await sql<{ name: string; type: string; is_needed: boolean }[]>`
    select table_name || '.' || column_name as name, udt_name as type,
      is_nullable = 'NO' and column_default is null and is_identity = 'NO' and is_generated = 'NEVER' as is_needed
    from information_schema.columns
    where table_schema = 'public' and table_name !~ '^events_.*[0-9]' order by name`
  return new Map(rows.map(({ name, type, is_needed }) => [name, { type, isNeeded: is_needed }]))
}

/** What may refuse a write: constraints and unique indexes, by name, with their tables. */
async function listConstraints(sql: Sql): Promise<Map<string, string>> {
  const rows = await sql<{ name: string; table: string }[]>`
    select conname as name, conrelid::regclass::text as table from pg_constraint
    where connamespace = 'public'::regnamespace and contype <> 'n'
    union
    select indexrelid::regclass::text, indrelid::regclass::text from pg_index
    join pg_class on pg_class.oid = indrelid
    where indisunique and relnamespace = 'public'::regnamespace`
  return new Map(rows.map(({ name, table }) => [name, table]))
}
