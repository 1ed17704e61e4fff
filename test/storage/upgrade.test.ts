import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const migrations = join(import.meta.dirname, '../../src/postgres/migrations')

/** The schema of a version that may still be running. What nodes of it need may go when nobody runs it any more. */
const oldest = '0017_events_app.sql'

/** What was taken away all the same, by the name of the table, column or index, and why nodes of that version live on. */
const contracted: Record<string, string> = {
  notifications_rolled: 'concerns rows with a from_id, which older nodes do not know',
}

test('migrations are numbered from 0 on, and no number is there twice or left out', () => {
  const names = readdirSync(migrations).toSorted()

  expect(names.map(name => /^\d{4}(?=_[a-z_]+\.sql$)/.exec(name)?.[0])).toEqual(
    names.map((_, i) => String(i).padStart(4, '0')),
  )
})

test('after an upgrade, what nodes of the version before write and read is still there, and new columns may be left out', async () => {
  await using database = await createDatabase('template template0')
  const folder = mkdtempSync(join(tmpdir(), 'parley-migrations-'))
  for (const name of readdirSync(migrations).filter(name => name <= oldest))
    cpSync(join(migrations, name), join(folder, name))
  await migrate(database.sql, createLog('error'), folder)
  rmSync(folder, { recursive: true })
  const [columns, constraints] = [await listColumns(database.sql), await listConstraints(database.sql)]

  await migrate(database.sql, createLog('error'))

  const later = await listColumns(database.sql)
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
  for (const [name, table] of await listConstraints(database.sql)) {
    if (!constraints.has(name) && tables.has(table)) faults.push(`${name} is a new rule of ${table}`)
  }
  expect(faults.filter(fault => !Object.keys(contracted).some(name => fault.startsWith(`${name} `)))).toEqual([])
})

test('a migration that has to wait gives way to what comes later, and is applied when the table is free', async () => {
  await using database = await createDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'parley-migrations-'))
  cpSync(migrations, folder, { recursive: true })
  writeFileSync(join(folder, '9000_later.sql'), 'alter table users add column later text;')
  const reader = await database.sql.reserve()
  await reader`begin`
  await reader`select count(*) from users`

  const logged: string[] = []
  const migrated = migrate(
    database.sql,
    createLog('warn', line => logged.push(line)),
    folder,
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
  rmSync(folder, { recursive: true })
})

const tableOf = (column: string) => column.split('.')[0]!

/** Each column, and whether an insert must give a value for it. */
async function listColumns(sql: Sql): Promise<Map<string, { type: string; isNeeded: boolean }>> {
  const rows = await sql<{ name: string; type: string; is_needed: boolean }[]>`
    select table_name || '.' || column_name as name, udt_name as type,
      is_nullable = 'NO' and column_default is null and is_identity = 'NO' and is_generated = 'NEVER' as is_needed
    from information_schema.columns
    where table_schema = 'public' and table_name !~ '^events_.*[0-9]'`
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
