import { expect, test } from 'vitest'
import type { Draft } from '../../src/resources/notifications/schema.ts'
import { insertDrafts } from '../../src/resources/notifications/store.ts'
import type { Sql, Tx } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/server.ts'

test('notifications of a deleted user are deleted with the user; those of others stay', async () => {
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
})

test('a user who is deleted while a notification is being made gets none', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await sql`insert into users (id, display_name, created_at) select i, 'U', now() from generate_series(1, 2) i`
  const deleting = await sql.reserve()
  await deleting`begin`
  await deleting`delete from users where id = 1`
  const make = () =>
    sql.begin(tx =>
      insertDrafts(
        tx as unknown as Tx,
        [1, 2].map(user_id => ({ ...draft, user_id })),
      ),
    )
  const making = make().catch((error: unknown) => error)
  await eventually(async () => {
    const waiting = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    expect(waiting).toHaveLength(1)
  })
  await deleting`commit`
  deleting.release()

  expect(await making).toMatchObject({ code: '23503' })
  // As the next attempt does.
  await make()
  expect(await sql`select user_id from notifications`).toEqual([{ user_id: 2 }])
})

const draft: Omit<Draft, 'user_id'> = {
  app_id: null,
  type: 'activity',
  action: 'x',
  actor_ids: [0],
  template: 'x',
  args: [],
  link_type: null,
  link_id: null,
  parent_type: null,
  parent_id: null,
  metadata: null,
  created_at: new Date(),
  from_id: null,
}

/** So many notifications without a link, as the API would have made them. */
async function notify(sql: Sql, user: number, count: number): Promise<void> {
  await sql`
    insert into notifications (id, user_id, type, action, actor_ids, template, created_at, changed_id, change)
    select nextval('notification_changes'), ${user}, 'activity', 'x', '{0}', 'x', now(), currval('notification_changes'),
      'notification_created'
    from generate_series(1, ${count}::int)`
}
