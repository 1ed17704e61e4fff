import { expect, test } from 'vitest'
import { listNotifications, orderFields, type Filter } from '../../src/resources/notifications/lists/pages.ts'
import { findNotification, markRead } from '../../src/resources/notifications/store.ts'
import { toPage } from '../../src/api/page.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { createDatabase, type Database } from '../support/database.ts'

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

/** Changes after which a user does not see notifications, and a condition on the notifications that are hidden then. */
const changes: { what: string; change: string; hidden: string }[] = [
  {
    what: 'messages are in the trash',
    change: `update messages set trashed_at = now() where id in (1007, 1040)`,
    hidden: `link_id in (1007, 1040) or from_id = 1040`,
  },
  {
    what: 'a post is in the trash',
    change: `update posts set trashed_at = now() where id = 2007`,
    hidden: `2007 in (link_id, parent_id)`,
  },
  {
    what: 'a file is in the trash',
    change: `update files set trashed_at = now() where id = 3007`,
    hidden: `3007 in (link_id, parent_id)`,
  },
  {
    what: 'comments are in the trash',
    change: `update comments set trashed_at = now() where id in (4009, 5009)`,
    hidden: `link_id in (4009, 5009)`,
  },
  {
    what: 'a post is deleted, and its comments are still to be',
    change: `delete from posts where id = 2007`,
    hidden: `2007 in (link_id, parent_id)`,
  },
  {
    what: 'a user leaves an app',
    change: `delete from members where app_id = 2 and user_id = 1`,
    hidden: `app_id = 2 and user_id = 1`,
  },
  {
    what: 'a user may no longer read an app',
    change: `update members set access = 'none' where app_id = 2 and user_id = 2`,
    hidden: `app_id = 2 and user_id = 2`,
  },
  {
    what: 'a user removes a chat',
    change: `update members set hidden_id = 1030 where app_id = 1 and user_id = 1`,
    hidden: `app_id = 1 and user_id = 1 and link_id <= 1030`,
  },
  {
    what: 'a user leaves a directory',
    change: `delete from directory_members where user_id = 2`,
    hidden: `app_id = 3 and user_id = 2`,
  },
  { what: 'an app is closed', change: `update apps set access = 'none' where id = 3`, hidden: `app_id = 3` },
  { what: 'an app is in the trash', change: `update apps set trashed_at = now() where id = 1`, hidden: `app_id = 1` },
  { what: 'an app is deleted', change: `update apps set deleted_at = now() where id = 2`, hidden: `app_id = 2` },
]

test.each(changes)('when $what, lists, totals and single notifications agree on what is left', async given => {
  await using database = await createNotified()
  const { sql } = database

  await sql.unsafe(given.change)

  const rows = await sql<{ id: number; user_id: number; is_hidden: boolean }[]>`
    select id, user_id, coalesce(${sql.unsafe(given.hidden)}, false) as is_hidden from notifications order by id`
  expect(rows.some(({ is_hidden }) => is_hidden)).toBe(true)
  for (const user of [1, 2]) {
    const left = rows.filter(({ user_id, is_hidden }) => user_id === user && !is_hidden).map(({ id }) => id)
    expect(await listAll(sql, { user, isVisible: true })).toEqual(left)
    expect(await listAll(sql, { user, isVisible: true, isUnread: true })).toEqual(left)
  }
  for (const { id, user_id, is_hidden } of rows)
    expect((await findNotification(sql, id, user_id)) === null, String(id)).toBe(is_hidden)
  // An API key sees all there are.
  expect(await listAll(sql, { user: null, isVisible: false })).toEqual(rows.map(({ id }) => id))
  expect(await findNotification(sql, rows[0]!.id, null)).not.toBeNull()
})

test('a rolled-up notification is hidden once none of its messages is left', async () => {
  await using database = await createNotified()
  const { sql } = database
  const rolled = async () =>
    (await listNotifications(sql, { user: 2, isVisible: true, action: 'message_created' }, all())).rows.length

  const before = await rolled()
  await sql`delete from messages where id = 1040`

  expect([before, await rolled()]).toEqual([1, 0])
})

test('a mark of all notifications is one change, after which none is unread', async () => {
  await using database = await createNotified()
  const { sql } = database
  await sql`
    insert into notifications (id, user_id, type, action, actor_ids, template, created_at, changed_id, change)
    select nextval('notification_changes'), 1, 'activity', 'x', '{3}', '', now(), currval('notification_changes'), ''
    from generate_series(1, 2000)`
  const unread = (user: number | null) => listAll(sql, { user, isVisible: user !== null, isUnread: true })
  const others = await unread(2)

  const marked = await sql.begin(tx => markRead(tx as never, { user: 1 }))
  const again = await sql.begin(tx => markRead(tx as never, { user: 1 }))

  expect([marked, again]).toEqual([true, false])
  expect([await unread(1), await unread(null)]).toEqual([[], others])
  expect(await sql`select distinct changed_id from notifications where user_id = 1`).toHaveLength(1)
  expect(await sql`select until_id from notifications where user_id = 1 and from_id is not null`).toEqual([
    { until_id: 1_020 },
  ])
})

const all = () => toPage({ take: 10_000 }, orderFields, 'id')

/** The ids that a list pages through, which are as many as its total says. */
async function listAll(sql: Sql, filter: Filter): Promise<number[]> {
  const { rows, count } = await listNotifications(sql, filter, all())
  expect(rows).toHaveLength(count)
  return rows.map(({ id }) => id)
}
