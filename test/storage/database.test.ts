import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { createDatabase, setDefault } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

test('every test has a migrated database to itself', async () => {
  await using one = await createDatabase()
  await using other = await createDatabase()

  await one.sql`insert into directories (name, created_at) values ('staff', now())`

  expect(await one.sql`select name from directories`).toMatchObject([{ name: 'staff' }])
  expect(await other.sql`select name from directories`).toHaveLength(0)
})

test('a migration that fails says why, and leaves nothing behind', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await sql`drop schema public cascade`
  await sql`create schema public`
  await sql`create table apps (id int)`

  await expect(migrate(sql, createLog('error'))).rejects.toThrow('relation "apps" already exists')
  await sql`drop table apps`
  await migrate(sql, createLog('error'))

  expect(await sql`select from apps`).toEqual([])
})

test('a node waits while another one migrates, for longer than a statement may take, and says so', async () => {
  await using database = await createDatabase()
  const other = await database.sql.reserve()
  await other`select pg_advisory_lock(7213001)`
  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 500 })
  const lines: string[] = []

  const migrated = migrate(
    sql,
    createLog('info', line => lines.push(line)),
  )
  migrated.catch(() => {})
  await eventually(() => expect(lines).toHaveLength(1))
  await other`select pg_sleep(1)`
  await other`select pg_advisory_unlock(7213001)`
  other.release()
  await migrated

  expect(lines.map(line => JSON.parse(line).message)).toEqual(['Another node migrates the database: waiting for it'])
  expect(await sql`show statement_timeout`).toEqual([{ statement_timeout: '500ms' }])
  await sql.end()
})

test('dates, bytes and backslashes are what they are, whatever the database has as its default', async () => {
  await using database = await createDatabase()
  const [{ name } = { name: '' }] = await database.sql<{ name: string }[]>`select current_database() as name`
  for (const form of ["datestyle = 'SQL, DMY'", 'bytea_output = escape', 'standard_conforming_strings = off']) {
    await database.sql.unsafe(`alter database ${name} set ${form}`)
  }
  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 30_000 })

  const [row] = await sql`
    select '2026-03-02T10:00:00Z'::timestamptz as time, '\\x00ff'::bytea as bytes, '\\n' as backslash`

  expect(row).toEqual({ time: new Date('2026-03-02T10:00:00Z'), bytes: Buffer.from([0, 255]), backslash: '\\n' })
  await sql.end()
})

test('a transaction sees what was committed since it began, whatever the database has as its default', async () => {
  await using database = await createDatabase()
  await setDefault(database, "default_transaction_isolation = 'repeatable read'")
  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 30_000 })

  const [before, after] = await sql.begin(async tx => {
    const before = await tx`select name from directories`
    await database.sql`insert into directories (name, created_at) values ('staff', now())`
    return [before, await tx`select name from directories`]
  })

  expect([...before, ...after]).toEqual([{ name: 'staff' }])
  await sql.end()
})
