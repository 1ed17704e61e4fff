import { expect, test } from 'vitest'
import { removeDeparted } from '../../src/resources/notifications/lists/departures.ts'
import type { Db } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/server.ts'

test('notifications of a deleted user are in no list at once, and gone soon; those of others stay', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await using server = await startServer({ DATABASE_URL: database.url })
  const [ann, ben] = await Promise.all([server.person('Ann'), server.person('Ben')])
  await notify(sql, Number(ann.id), 1_000)
  await notify(sql, Number(ben.id), 3)
  const [first] = await sql<{ id: number }[]>`select min(id) as id from notifications where user_id = ${ann.id}`
  expect((await server.admin.get('/api/notifications')).body.count).toBe('1003')

  const { status } = await server.admin.delete(`/api/users/${ann.id}`)

  const listed = (await server.admin.get('/api/notifications')).body
  const single = await server.admin.get(`/api/notifications/${first!.id}`)
  expect(status).toBe(204)
  expect(listed).toMatchObject({ count: '3', data: Array.from({ length: 3 }, () => ({ user: { id: ben.id } })) })
  expect(single.status).toBe(404)
  await eventually(async () => {
    expect(await sql`select user_id, count(*) as count from notifications group by 1`).toEqual([
      { user_id: Number(ben.id), count: 3 },
    ])
    expect(await sql`select from notification_departures`).toHaveLength(0)
  })
})

test('what a deleted user was told of in apps is not looked at for whether it is hidden', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await sql`insert into users (id, display_name, created_at) select i, 'U' || i, now() from generate_series(1, 2) i`
  await sql`insert into apps (id, type, rev, head_rev, created_at, created_by, access) values (1, 'posts', 1, 1, now(), 2, 'none')`
  await sql`insert into members (app_id, user_id, access) values (1, 1, 'write'), (1, 2, 'write')`

  await sql`delete from users where id = 1`
  await sql`delete from members`

  expect(await sql`select kind, user_id from notification_audits`).toEqual([{ kind: 'member', user_id: 2 }])
})

test('they are deleted in portions, and so are those that were being written when the user was deleted', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await sql`insert into users (id, display_name, created_at) select i, 'U' || i, now() from generate_series(1, 3) i`
  await notify(sql, 1, 5)
  await notify(sql, 2, 2)
  const writer = await sql.reserve()
  await writer`begin`
  await writer`select pg_current_xact_id()`
  await sql`delete from users where id in (1, 2)`

  const portions = [await removeDeparted(sql, 4), await removeDeparted(sql, 4), await removeDeparted(sql, 4)]
  await notify(writer, 1, 1)
  await writer`commit`
  writer.release()

  expect(portions).toEqual([4, 3, 0])
  expect(await sql`select user_id from notification_departures order by 1`).toEqual([{ user_id: 1 }, { user_id: 2 }])
  await eventually(async () => {
    await removeDeparted(sql, 4)
    expect(await sql`select from notification_departures`).toHaveLength(0)
  })
  expect(await sql`select from notifications`).toHaveLength(0)
})

test('what was being written to a user while that was deleted is deleted, though it began later', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await sql`insert into users (id, display_name, created_at) values (1, 'U', now())`
  await notify(sql, 1, 1)
  const [deleting, writing] = [await sql.reserve(), await sql.reserve()]
  await deleting`begin`
  await deleting`delete from users where id = 1`
  await writing`begin`
  await notify(writing, 1, 1)
  await deleting`commit`
  for (let turn = 0; turn < 3; turn++) await removeDeparted(sql, 4)
  await writing`commit`
  for (const connection of [deleting, writing]) connection.release()

  await eventually(async () => {
    await removeDeparted(sql, 4)
    expect(await sql`select from notification_departures`).toHaveLength(0)
  })

  expect(await sql`select from notifications`).toHaveLength(0)
})

/** So many notifications without a link, as the API would have made them. */
async function notify(db: Db, user: number, count: number): Promise<void> {
  await db`
    insert into notifications (id, user_id, type, action, actor_ids, template, created_at, changed_id, change)
    select nextval('notification_changes'), ${user}, 'activity', 'x', '{0}', 'x', now(), currval('notification_changes'),
      'notification_created'
    from generate_series(1, ${count}::int)`
}
