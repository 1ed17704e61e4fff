import { expect, test } from 'vitest'
import { isAnyUntrimmed, trimmedAtOnce, trimNext } from '../../src/resources/notifications/bound.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { create } from '../support/content.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/server.ts'

const [ann, ben, eve] = [1, 2, 3]

test('a user keeps as many as the limit says: read ones go first, then the oldest', async () => {
  await using database = await createWorld()
  const { sql } = database
  await notify(sql, ann, 30, { read: [5, 7, 28] })
  await notify(sql, ben, 4, { read: [1] })

  await trimAll(sql, 25)

  const unread = Array.from({ length: 30 }, (_, i) => i + 1).filter(n => ![5, 7, 28].includes(n))
  expect(await kept(sql, ann)).toEqual(unread.slice(2))
  expect(await kept(sql, ben)).toEqual([1, 2, 3, 4])
})

test('all users who got something are checked, however many they are and however much they have', async () => {
  await using database = await createWorld()
  const { sql } = database
  await notify(sql, ann, 3 * trimmedAtOnce, {})
  // As after the limit was lowered: only the last of them is new.
  await sql`update followed_position set trimmed_id = (select max(id) - 1 from notifications)`
  for (let i = 0; i < trimmedAtOnce; i++) await notify(sql, ben, 1, {})
  await notify(sql, eve, 12, {})

  const turns = await trimAll(sql, 10)

  for (const user of [ann, ben, eve]) expect(await kept(sql, user)).toHaveLength(10)
  expect(turns).toBeGreaterThan(3)
  const [row] = await sql<{ is_any: boolean }[]>`select ${sql.unsafe(isAnyUntrimmed)} as is_any`
  expect(row!.is_any).toBe(false)
})

test('it waits for nobody: locked rows stay until the user gets more, and one node at a time does it', async () => {
  await using database = await createWorld()
  const { sql } = database
  await notify(sql, ann, 12, {})
  const other = await sql.reserve()
  await other`begin`
  await other`update notifications set is_unread = false where user_id = ${ann} and id <= 6`
  await trimAll(sql, 10)
  const meanwhile = await kept(sql, ann)
  await other`rollback`
  await other`begin`
  await other`select from followed_position for update`
  await notify(sql, ann, 1, {})
  const elsewhere = await trimNext(sql, 10)
  await other`rollback`
  other.release()

  expect([meanwhile.length, elsewhere]).toEqual([12, 0])
  await trimAll(sql, 10)
  expect(await kept(sql, ann)).toHaveLength(10)
})

test('a server keeps the setting', async () => {
  await using server = await startServer({ NOTIFICATIONS_PER_USER: '3' })
  const person = await server.person('Ann')
  const texts = ['One', 'Two', 'Three', 'Four', 'Five']
  for (const text of texts) await create(server.admin, '/api/notifications', { user: person.id, text })
  const listed = async () => (await person.get('/api/notifications?order_by=id')).body

  // The job comes round every ten seconds.
  await eventually(async () => expect((await listed()).count).toBe('3'), { timeoutMs: 60_000, everyMs: 500 })

  expect((await listed()).data.map(({ text }: { text: string }) => text)).toEqual(texts.slice(2))
})

async function createWorld(): Promise<Database> {
  const database = await createDatabase()
  await database.sql`
    insert into users (id, display_name, created_at) select i, 'U' || i, now() from generate_series(1, 3) i`
  return database
}

/** So many notifications, of which those with these numbers are read. */
async function notify(sql: Sql, user: number, count: number, { read = [] }: { read?: number[] }): Promise<void> {
  await sql`
    insert into notifications (id, user_id, type, action, actor_ids, template, is_unread, created_at, changed_id, change, metadata)
    select nextval('notification_changes'), ${user}, 'activity', 'x', '{0}', '', i <> all(${read}::bigint[]), now(),
      currval('notification_changes'), '', to_jsonb(i)
    from generate_series(1, ${count}::int) i`
}

/** The numbers of a user's notifications, oldest first. */
async function kept(sql: Sql, user: number): Promise<number[]> {
  const rows = await sql<{ number: number }[]>`
    select metadata::int as number from notifications where user_id = ${user} order by id`
  return rows.map(({ number }) => number)
}

/** Until all are checked; in how many turns. */
async function trimAll(sql: Sql, perUser: number): Promise<number> {
  for (let turns = 1; ; turns++) if ((await trimNext(sql, perUser)) < trimmedAtOnce) return turns
}
