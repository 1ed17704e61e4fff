import { expect, test } from 'vitest'
import { StartFault } from '../../src/lib/errors.ts'
import { createLog, type Log } from '../../src/lib/log.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { createDatabase, setDefault } from '../support/database.ts'

const log = createLog('error')

const empty = 'template template0'

test('a database with another encoding is refused, with the way out', async () => {
  await using database = await createDatabase(`${empty} encoding 'LATIN1' locale_provider libc locale 'C'`)

  const refused = migrate(database.sql, log)

  await expect(refused).rejects.toThrow(StartFault)
  await expect(refused).rejects.toThrow('encoding is LATIN1, not UTF8')
  await expect(refused).rejects.toThrow("locale 'C.UTF-8'")
  expect(await database.sql`select from pg_tables where tablename = 'migrations'`).toEqual([])
})

test('a database with no encoding is used, with a warning', async () => {
  await using database = await createDatabase(`${empty} encoding 'SQL_ASCII' locale_provider libc locale 'C'`)
  const warnings: string[] = []

  await migrate(database.sql, { ...log, warn: (_facts: object, text: string) => void warnings.push(text) } as Log)

  expect(warnings).toEqual([expect.stringContaining("locale 'C.UTF-8'")])
  expect(await database.sql`select from apps`).toEqual([])
})

test('all that a database lacks is said at once', async () => {
  await using database = await createDatabase(`${empty} encoding 'LATIN1' locale_provider libc locale 'C'`)
  await setDefault(database, 'default_transaction_read_only = on; set default_transaction_read_only = off')
  await setDefault(database, 'role = pg_monitor')
  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 30_000 })

  const refused = migrate(sql, log)

  await expect(refused).rejects.toThrow(
    /^The database cannot be used:\n  - Its encoding is LATIN1.*\n  - It is read-only.*\n  - The/,
  )
  await expect(refused).rejects.toThrow('grant create on schema public to pg_monitor')
  await sql.end()
})

test('a database that confirms commits before they are on disk is refused', async () => {
  await using database = await createDatabase()
  await setDefault(database, 'synchronous_commit = off')
  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 30_000 })

  await expect(migrate(sql, log)).rejects.toThrow('set synchronous_commit to on')

  await sql.end()
})

test('a database that confirms commits once they are on the disk of its own server is fit', async () => {
  await using database = await createDatabase()
  await setDefault(database, 'synchronous_commit = local')
  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 30_000 })

  await migrate(sql, log)

  await sql.end()
})

test('a database whose search path leads nowhere is refused', async () => {
  await using database = await createDatabase(empty)
  await database.sql`drop schema public`

  await expect(migrate(database.sql, log)).rejects.toThrow('search_path names no schema')
})

test.each([
  ['as it is advised', `${empty} encoding 'UTF8' locale 'C.UTF-8'`],
  ['of ICU', `${empty} locale_provider icu icu_locale 'und' locale 'C'`],
  ['without letters beyond ASCII', `${empty} encoding 'UTF8' locale_provider libc locale 'C'`],
  ['where I and i are different letters', `${empty} locale_provider icu icu_locale 'tr-TR' locale 'C'`],
])('a database in UTF8 with a locale %s is fit', async (_name, kind) => {
  await using database = await createDatabase(kind)
  const warnings: string[] = []

  await migrate(database.sql, { ...log, warn: (_facts: object, text: string) => void warnings.push(text) } as Log)

  expect(warnings).toEqual([])
  expect(await database.sql`select from apps`).toEqual([])
})
