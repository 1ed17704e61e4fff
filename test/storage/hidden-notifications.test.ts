import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { processAudits } from '../../src/resources/notifications/lists/audits.ts'
import { isShown } from '../../src/resources/notifications/lists/hidden.ts'
import { markRead, applyMark } from '../../src/resources/notifications/lists/marks.ts'
import { listNotifications, orderFields } from '../../src/resources/notifications/lists/pages.ts'
import { toPage } from '../../src/api/page.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const backfill = new URL('../../src/postgres/migrations/0031_mark_hidden.sql', import.meta.url)

/**
 * Two people in a room, a posts and a files app, told of each of 40 messages, posts, comments on posts, files and comments on
 * files, and of what rolls up in the room.
 */
async function createNotified(): Promise<Database> {
  const database = await createDatabase()
  const { sql } = database
  await sql`insert into users (id, display_name, created_at) select i, 'U', now() from generate_series(1, 3) i`
  await sql`insert into directories (id, name, created_at) values (1, 'one', now())`
  await sql`insert into directory_members (directory_id, user_id) select 1, i from generate_series(1, 3) i`
  await sql`
    insert into apps (id, type, rev, head_rev, created_at, created_by, access, directory_id) values
      (1, 'chat_room', 1, 1, now(), 3, 'none', null), (2, 'posts', 1, 1, now(), 3, 'none', null),
      (3, 'files', 1, 1, now(), 3, 'read', 1)`
  await sql`
    insert into members (app_id, user_id, access) select app, i, 'write' from generate_series(1, 2) app, generate_series(1, 3) i`
  await sql`insert into messages (id, app_id, created_at, created_by) select 1000 + i, 1, now(), 3 from generate_series(1, 40) i`
  await sql`insert into posts (id, app_id, created_at, created_by) select 2000 + i, 2, now(), 3 from generate_series(1, 40) i`
  await sql`
    insert into files (id, app_id, rev, name, size, created_at, created_by)
    select 3000 + i, 3, 1, 'f' || i, 1, now(), 3 from generate_series(1, 40) i`
  await sql`
    insert into comments (id, app_id, parent_type, parent_id, created_at, created_by)
    select 4000 + i, 2, 'post', 2000 + i, now(), 3 from generate_series(1, 40) i
    union all select 5000 + i, 3, 'file', 3000 + i, now(), 3 from generate_series(1, 40) i`
  const columns = sql`id, user_id, app_id, type, action, actor_ids, template, link_type, link_id, parent_type, parent_id,
    created_at, changed_id, change, from_id`
  await sql`
    insert into notifications (${columns})
    select nextval('notification_changes'), u, app_id, 'activity', 'x', '{3}', '', link_type, id, parent_type, parent_id, now(),
      currval('notification_changes'), '', null
    from (
      select app_id, 'message' as link_type, id, parent_type, parent_id from messages
      union all select app_id, 'post', id, parent_type, parent_id from posts
      union all select app_id, 'file', id, parent_type, parent_id from files
      union all select app_id, 'comment', id, parent_type, parent_id from comments
    ) i, generate_series(1, 2) u`
  await sql`
    insert into notifications (${columns})
    select nextval('notification_changes'), u, 1, 'activity', 'message_created', '{3}', '', 'message', null, null, null, now(),
      currval('notification_changes'), '', 1020 + 20 * (u - 1)
    from generate_series(1, 2) u`
  return database
}

const changes: [string, string][] = [
  ['a message is in the trash', `update messages set trashed_at = now() where id in (1007, 1040)`],
  ['a post is', `update posts set trashed_at = now() where id = 2007`],
  ['a file is', `update files set trashed_at = now() where id = 3007`],
  ['a comment is', `update comments set trashed_at = now() where id in (4009, 5009)`],
  ['a person leaves', `delete from members where app_id = 2 and user_id = 1`],
  ['a person may no longer read', `update members set access = 'none' where app_id = 2 and user_id = 2`],
  ['a chat is removed by somebody', `update members set hidden_id = 1030 where app_id = 1 and user_id = 1`],
  ['a person leaves a directory', `delete from directory_members where user_id = 2`],
  ['an app is closed', `update apps set access = 'none' where id = 3`],
  ['an app is in the trash', `update apps set trashed_at = now() where id = 1`],
]
const returns = `
  update messages set trashed_at = null; update posts set trashed_at = null; update files set trashed_at = null;
  update comments set trashed_at = null; update members set access = 'write', hidden_id = null;
  update apps set access = case id when 3 then 'read' else access end, trashed_at = null`

/** The ids that lists show to each of the two, and to an API key. */
async function listShown(sql: Sql): Promise<number[][]> {
  const page = () => toPage({ take: 1_000 }, orderFields, 'id')
  const lists = await Promise.all([1, 2, null].map(user => listNotifications(sql, { user }, page())))
  for (const { rows, count } of lists) expect(rows).toHaveLength(count)
  return lists.map(({ rows }) => rows.map(({ id }) => id))
}

async function listPlainly(sql: Sql): Promise<number[][]> {
  const rows = await sql<{ id: number; user_id: number }[]>`
    select id, user_id from notifications n where ${isShown(sql)} order by id`
  const of = (user: number) => rows.filter(({ user_id }) => user_id === user).map(({ id }) => id)
  return [of(1), of(2), rows.map(({ id }) => id)]
}

/** Until each change was looked at, and all that was under way at the time is over. */
async function answerAll(sql: Sql): Promise<void> {
  await eventually(async () => {
    await processAudits(sql)
    expect(await sql`select from notification_audits`).toHaveLength(0)
  })
}

test.each(changes)('lists show at once what is left when %s, and so does what is kept', async (_, change) => {
  await using database = await createNotified()
  const { sql } = database
  const before = await listPlainly(sql)

  await sql.unsafe(change)

  const shown = await listPlainly(sql)
  expect(shown).not.toEqual(before)
  expect(await listShown(sql)).toEqual(shown)
  await answerAll(sql)
  expect(await sql`select from notifications n where is_hidden = ${isShown(sql)}`).toHaveLength(0)
  expect(await listShown(sql)).toEqual(shown)

  await sql.unsafe(returns)

  expect(await listShown(sql)).toEqual(await listPlainly(sql))
  await answerAll(sql)
  expect(await sql`select from notifications n where is_hidden = ${isShown(sql)}`).toHaveLength(0)
})

test('what was being written about an item while that went to the trash is hidden, though it began later', async () => {
  await using database = await createNotified()
  const { sql } = database
  const [trashing, writing] = [await sql.reserve(), await sql.reserve()]
  await trashing`begin`
  await trashing`update posts set trashed_at = now() where id = 2007`
  await writing`begin`
  await writing`
    insert into notifications (id, user_id, app_id, type, action, actor_ids, template, link_type, link_id, created_at, changed_id, change)
    select nextval('notification_changes'), 1, 2, 'activity', 'x', '{3}', '', 'post', 2007, now(), currval('notification_changes'), ''`
  await trashing`commit`
  await processAudits(sql)
  await writing`commit`
  for (const connection of [trashing, writing]) connection.release()

  await answerAll(sql)

  expect(await sql`select from notifications n where is_hidden = ${isShown(sql)}`).toHaveLength(0)
})

test('what one person was told of in an app is hidden in portions', async () => {
  await using database = await createNotified()
  const { sql } = database
  await sql`
    insert into notifications (id, user_id, app_id, type, action, actor_ids, template, created_at, changed_id, change)
    select nextval('notification_changes'), 1, 2, 'activity', 'x', '{3}', '', now(), currval('notification_changes'), ''
    from generate_series(1, 2500)`
  await sql`delete from members where app_id = 2 and user_id = 1`
  const counts: number[] = []
  await eventually(async () => {
    await processAudits(sql)
    const [row] = await sql<{ count: number }[]>`select count(*) as count from notifications where is_hidden`
    counts.push(row!.count)
    expect(await sql`select from notification_audits`).toHaveLength(0)
  })

  expect([...new Set(counts)].filter(count => count > 0)).toEqual([1_000, 2_000, 2_580])
  expect(await sql`select from notifications n where is_hidden = ${isShown(sql)}`).toHaveLength(0)
})

test('a database that is upgraded knows what was hidden before', async () => {
  await using database = await createNotified()
  const { sql } = database
  for (const [, change] of changes.slice(0, 9)) await sql.unsafe(change)
  await sql`delete from notification_audits`
  const shown = await listPlainly(sql)
  expect(shown[2]!.length).toBeGreaterThan(10)

  await sql.unsafe(readFileSync(backfill, 'utf8'))

  expect(await sql`select from notifications n where is_hidden = ${isShown(sql)}`).toHaveLength(0)
  expect(await listShown(sql)).toEqual(shown)
})

test('many that are marked are read at once, and what comes later, or is unread again, is not', async () => {
  await using database = await createNotified()
  const { sql } = database
  await sql`
    insert into notifications (id, user_id, type, action, actor_ids, template, created_at, changed_id, change)
    select nextval('notification_changes'), 1, 'activity', 'x', '{3}', '', now(), currval('notification_changes'), ''
    from generate_series(1, 3000)`
  const countUnread = async (user: number | null) =>
    (await listNotifications(sql, { user, isUnread: true }, toPage({ count_only: true }, orderFields, 'id'))).count
  const before = await countUnread(null)
  const own = await countUnread(1)

  expect(await sql.begin(tx => markRead(tx as never, { user: 1 }))).toBe(true)

  expect([await countUnread(1), await countUnread(null)]).toEqual([0, before - own])
  expect(await sql.begin(tx => markRead(tx as never, { user: 1 }))).toBe(false)
  const { rows } = await listNotifications(sql, { user: 1 }, toPage({ skip: 2_000, take: 100 }, orderFields, 'id desc'))
  expect(rows.filter(({ is_unread }) => is_unread)).toHaveLength(0)

  await sql`
    insert into notifications (id, user_id, type, action, actor_ids, template, created_at, changed_id, change)
    select nextval('notification_changes'), 1, 'activity', 'x', '{3}', '', now(), currval('notification_changes'), ''`
  expect(await countUnread(1)).toBe(1)
  let portions = 0
  while (await applyMark(sql)) portions++

  expect(portions).toBeGreaterThan(2)
  expect(await countUnread(1)).toBe(1)
  expect(await sql`select from notifications where user_id = 1 and is_unread`).toHaveLength(1)
  expect(await sql`select from notification_marks`).toHaveLength(0)
})
