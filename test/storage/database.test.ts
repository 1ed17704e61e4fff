import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'

test('every test has a migrated database to itself', async () => {
  await using one = await createDatabase()
  await using other = await createDatabase()

  await one.sql`insert into directories (name, created_at) values ('staff', now())`

  expect(await one.sql`select name from directories`).toMatchObject([{ name: 'staff' }])
  expect(await other.sql`select name from directories`).toHaveLength(0)
})
