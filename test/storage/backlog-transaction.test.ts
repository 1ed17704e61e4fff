import { expect, test } from 'vitest'
import { UserCache } from '../../src/auth/user-cache.ts'
import { prepareEvents } from '../../src/jobs/storage-jobs.ts'
import { eventTypes } from '../../src/resources/index.ts'
import {
  BacklogTransaction,
  type BacklogResult,
  type FollowUpParts,
} from '../../src/resources/notifications/processing/backlog-transaction.ts'
import type { Sql, Tx } from '../../src/postgres/sql.ts'
import { openActors } from '../support/actors.ts'
import { createDatabase } from '../support/database.ts'

const now = new Date()

test('what follows from messages is done for as many as fit in a transaction, the oldest of each app first', async () => {
  await using database = await createDatabase()
  await using node = await openActors(database.url)
  const { sql } = database
  for (const app of [1, 2, 3]) await insertApp(sql, { app, messages: 1_500 })
  const rounds: number[] = []

  for (let left: number[] = [1, 2, 3]; left.length > 0;) {
    const { more } = await process(node, left)
    // Each message up to a cursor has its terms, and none after it.
    expect(
      await sql`
        select m.id from messages m join notification_cursors c on c.app_id = m.app_id
        where (m.id <= c.rev) <> exists (select from messages_terms t where t.id = m.id)`,
    ).toHaveLength(0)
    const [terms] = await sql<{ count: number }[]>`select count(*) as count from messages_terms`
    rounds.push(terms!.count)
    left = more
  }

  // The last round finds that nothing is left.
  expect(rounds).toEqual([1_500, 3_000, 4_500, 4_500])
})

test('an author has read the notifications of earlier messages, and unread messages are checked later', async () => {
  await using database = await createDatabase()
  await using node = await openActors(database.url)
  const { sql } = database
  await sql`insert into users (id, display_name, created_at) select i, 'U', now() from generate_series(1, 2) i`
  await insertApp(sql, { app: 1, messages: 2 })
  await sql`
    insert into notifications (id, user_id, app_id, type, action, actor_ids, template, args, link_type, from_id, is_unread,
      created_at, changed_id, change)
    select 10 + user_id, user_id, 1, 'activity', 'message_created', '{}', '', '{}', 'message', 1, true, now(), 1,
      'notification_created' from unnest(array[1, 2]) user_id`

  const { hasChanges } = await process(node, [1])

  expect(hasChanges).toBe(true)
  expect(await sql`select user_id, is_unread from notifications order by 1`).toEqual([
    { user_id: 1, is_unread: false },
    { user_id: 2, is_unread: true },
  ])
  const [cursor] = await sql<{ due_at: Date }[]>`select due_at from notification_cursors`
  expect(cursor!.due_at.getTime() - now.getTime()).toBeGreaterThanOrEqual(5_000)
  expect(cursor!.due_at.getTime() - now.getTime()).toBeLessThan(7_600)
})

test('apps that are deleted, or that another node works on, are left as they are', async () => {
  await using database = await createDatabase()
  await using node = await openActors(database.url)
  const { sql } = database
  for (const app of [1, 2]) await insertApp(sql, { app, messages: 2 })
  await sql`update apps set deleted_at = now() where id = 1`
  const other = await sql.reserve()
  await other`begin`
  await other`select from notification_cursors where app_id = 2 for update`

  const { cursors } = await process(node, [1, 2])
  await other`commit`
  other.release()

  expect(cursors).toEqual([])
  expect(await sql`select from messages_terms`).toHaveLength(0)
  expect((await process(node, [1, 2])).cursors).toMatchObject([{ app_id: 2, rev: revOf(2, 2) }])
})

function process({ sql, apps }: { sql: Sql; apps: FollowUpParts['apps'] }, ids: number[]): Promise<BacklogResult> {
  const userCache = new UserCache(sql)
  const parts: FollowUpParts = { apps, userCache, events: eventTypes, patienceMs: 5_000, isWholeDue: () => true }
  return sql.begin(tx => new BacklogTransaction(tx as unknown as Tx, parts, now).run(ids)) as Promise<BacklogResult>
}

/** A room in which user 1 wrote so many messages, none of which has been processed. */
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
