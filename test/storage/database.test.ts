import { expect, test } from 'vitest'
import { migrate } from '../../src/storage/migrate.ts'
import { createDatabase } from '../support/database.ts'

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

  await expect(migrate(sql)).rejects.toThrow('relation "apps" already exists')
  await sql`drop table apps`
  await migrate(sql)

  expect(await sql`select from apps`).toEqual([])
})
