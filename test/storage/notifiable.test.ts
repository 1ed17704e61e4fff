import { expect, test } from 'vitest'
import { removeFromBacklog } from '../../src/resources/notifications/processing/backlog.ts'
import { createDatabase } from '../support/database.ts'

test('what was worked off is forgotten without waiting for commits, which keep what they have just noted', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await sql`insert into notifiable (app_id, rev) values (1, 10), (2, 10), (3, 30)`
  const commit = await sql.reserve()
  await commit`begin`
  await commit`update notifiable set rev = 20 where app_id = 2`

  await removeFromBacklog(
    sql,
    [1, 2, 3].map(app_id => ({ app_id, rev: 10 })),
  )
  await commit`insert into notifiable (app_id, rev) values (1, 20)`
  await commit`commit`
  commit.release()

  const left = await sql`select app_id, rev from notifiable order by app_id`
  expect(left.map(({ app_id, rev }) => [app_id, rev])).toEqual([
    [1, 20],
    [2, 20],
    [3, 30],
  ])
})
