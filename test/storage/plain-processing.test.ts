import { expect, test } from 'vitest'
import { prepareEvents } from '../../src/jobs/storage-jobs.ts'
import { plainLimit, processPlain } from '../../src/resources/notifications/processing/plain.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'

const now = new Date()
const options = { patienceMs: 5_000, limit: plainLimit, now }

test('what follows from plain messages is done for as many as fit in a statement, in turns, the oldest of each app first', async () => {
  await using database = await createDatabase()
  const { sql } = database
  for (const app of [1, 2, 3]) await insertApp(sql, { app, messages: 1_500 })
  const moved: number[][] = []

  for (let left: number[] = [1, 2, 3]; left.length > 0;) {
    const { processed } = await processPlain(sql, left, options)
    moved.push(processed.flatMap(({ app_id, first_at }) => (first_at === null ? [] : [app_id])).sort())
    // Each message up to a cursor has its terms, and none after it.
    expect(
      await sql`
        select m.id from messages m join notification_cursors c on c.app_id = m.app_id
        where (m.id <= c.rev) <> exists (select from messages_terms t where t.id = m.id)`,
    ).toHaveLength(0)
    left = processed.filter(({ is_left }) => is_left).map(({ app_id }) => app_id)
  }

  expect(moved).toEqual([[1, 2], [2, 3], [2]])
  expect(await sql`select count(*) from messages_terms`).toMatchObject([{ count: 4_500 }])
})

test('whoever has written in an app has read what was told of messages before, and it is looked for the unread later', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await insertApp(sql, { app: 1, messages: 2 })
  await sql`
    insert into notifications (id, user_id, app_id, type, action, actor_ids, template, args, link_type, from_id, is_unread,
      created_at, changed_id, change)
    select 10 + user_id, user_id, 1, 'activity', 'message_created', '{}', '', '{}', 'message', 1, true, now(), 1,
      'notification_created' from unnest(array[1, 2]) user_id`

  const { hasMarked } = await processPlain(sql, [1], options)

  expect(hasMarked).toBe(true)
  expect(await sql`select user_id, is_unread from notifications order by 1`).toEqual([
    { user_id: 1, is_unread: false },
    { user_id: 2, is_unread: true },
  ])
  const [cursor] = await sql<{ due_at: Date }[]>`select due_at from notification_cursors`
  expect(cursor!.due_at.getTime() - now.getTime()).toBeGreaterThanOrEqual(5_000)
  expect(cursor!.due_at.getTime() - now.getTime()).toBeLessThan(7_600)
})

test('messages that have been unread for long enough by then are processed, and the app is to be looked at again', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await insertApp(sql, { app: 1, messages: 2 })
  const later = { ...options, now: new Date(now.getTime() + 10_000) }

  expect((await processPlain(sql, [1], later)).processed).toMatchObject([{ app_id: 1, is_left: true }])

  expect(await sql`select count(*) from messages_terms`).toMatchObject([{ count: 2 }])
  expect((await processPlain(sql, [1], later)).processed).toEqual([])
})

test('apps with anything to be looked at by itself are left as they are, to the last event', async () => {
  await using database = await createDatabase()
  const { sql } = database
  for (const app of [1, 2, 3, 4, 5, 6]) await insertApp(sql, { app, messages: 2 })
  await sql`update events set facts = '{"mentioned": [3]}' where app_id = 1 and rev = ${revOf(1, 2)}`
  await sql`update events set type = 'reaction_added' where app_id = 2 and rev = ${revOf(2, 2)}`
  await sql`update notification_cursors set due_at = ${now} where app_id = 3`
  await sql`delete from notification_cursors where app_id = 4`
  await sql`update apps set deleted_at = now() where id = 5`
  const held = await sql.reserve()
  await held`begin`
  await held`select from notification_cursors where app_id = 6 for update`

  const { processed } = await processPlain(sql, [1, 2, 3, 4, 5, 6], options)
  await held`commit`
  held.release()

  expect(processed).toEqual([])
  expect(await sql`select count(*) from messages_terms`).toMatchObject([{ count: 0 }])
  expect(await sql`select app_id from notification_cursors where rev > 0`).toHaveLength(0)
  expect((await processPlain(sql, [6], options)).processed).toMatchObject([{ app_id: 6, is_left: false }])
})

test('while a webhook is to be told of what is marked as read, nothing is done without a look', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await insertApp(sql, { app: 1, messages: 2 })
  await sql`
    insert into webhooks (payload_url, triggers, is_enabled, created_at)
    values ('http://localhost', '{notifications}', true, now())`

  expect((await processPlain(sql, [1], options)).processed).toEqual([])
  await sql`update webhooks set is_enabled = false`
  expect((await processPlain(sql, [1], options)).processed).toMatchObject([{ app_id: 1 }])
})

/** A room in which user 1 wrote so many messages, which nothing has followed from yet. */
async function insertApp(sql: Sql, { app, messages }: { app: number; messages: number }): Promise<void> {
  await prepareEvents(sql, now)
  await sql`
    insert into apps (id, type, rev, head_rev, created_at, created_by)
    overriding system value values (${app}, 'chat', 0, ${revOf(app, messages)}, now(), 0)`
  await sql`insert into notification_cursors (app_id, rev) values (${app}, 0)`
  await sql`
    insert into messages (id, app_id, text, created_at, created_by)
    select ${revOf(app, 0)} + i, ${app}, 'word' || i, ${now}, 1 from generate_series(1, ${messages}::int) i`
  await sql`
    insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, created_at)
    select ${app}, ${revOf(app, 0)} + i, ${revOf(app, 0)} + i - 1, 'message_created', 1, 'message', ${revOf(app, 0)} + i, ${now}
    from generate_series(1, ${messages}::int) i`
}

/** Of the nth event of an app. */
function revOf(app: number, nth: number): number {
  return app * 10_000 + nth
}
