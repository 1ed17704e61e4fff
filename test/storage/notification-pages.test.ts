import { afterAll, beforeAll, expect, test } from 'vitest'
import { listNotifications, orderFields, type Filter } from '../../src/resources/notifications/lists/pages.ts'
import { toPage } from '../../src/api/page.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'

/** Somebody with many notifications, and somebody with few, whose newest are older than those of everybody else. */
const [busy, calm] = [1, 2]
const many = 3_000
let database: Database

beforeAll(async () => {
  database = await createDatabase()
  const { sql } = database
  await sql`
    insert into users (id, display_name, created_at) select i, 'U' || i, now() from generate_series(1, 5) i`
  await sql`insert into directories (id, name, created_at) values (7, 'seven', now())`
  await sql`
    insert into apps (id, type, access, rev, head_rev, created_at, created_by, directory_id, trashed_at, deleted_at)
    select i, 'posts', 'read', 1, 1, now(), 1, case when i = 2 then 7 end, case when i = 3 then now() end, case when i = 4 then now() end
    from generate_series(1, 4) i`
  // All but one have access to what is open to the directory.
  await sql`insert into directory_members (directory_id, user_id) select 7, i from generate_series(1, 4) i`
  // An item of each kind for each number; some are in the trash, some are gone.
  await sql`
    insert into posts (id, app_id, created_at, created_by, trashed_at)
    select i, 1, now(), 1, case when i % 9 = 0 then now() end from generate_series(1, 1000) i where i % 7 > 0`
  await sql`
    insert into comments (id, app_id, parent_type, parent_id, created_at, created_by, trashed_at)
    select 1000 + i, 1, 'post', i, now(), 1, case when i % 5 = 0 then now() end from generate_series(1, 1000) i`
  // Whom it is hidden from as well, because they had removed the chat by then.
  await sql`
    insert into members (app_id, user_id, is_removed, hidden_id) values
      (1, ${busy}, true, 1200), (2, ${busy}, false, null), (1, ${calm}, false, 3), (1, 3, true, 500)`
  await notify(sql, calm, 10, 0)
  await notify(sql, busy, many, 1_000)
  for (const user of [3, 4, 5]) await notify(sql, user, 4_000, user * 100_000)
  await sql`vacuum analyze notifications, posts, comments, apps, members`
})
afterAll(() => database[Symbol.asyncDispose]())

async function notify(sql: Sql, user: number, count: number, first: number): Promise<void> {
  await sql`
    insert into notifications (id, user_id, app_id, type, action, actor_ids, template, link_type, link_id, parent_type,
      parent_id, is_unread, created_at, changed_id, change)
    select ${first}::bigint + i * 20, ${user}, case when i % 11 = 0 then null else 1 + (i / 50) % 4 end,
      case when i % 3 = 0 then 'mention' else 'activity' end, case when i % 2 = 0 then 'post_created' else 'comment_created' end,
      '{1}', case when i % 50 = 1 then 'Ärger' else 'peace' end, case when i % 2 = 0 then 'post' else 'comment' end,
      case when i % 2 = 0 then i % 1000 + 1 else i % 1000 + 1001 end, case when i % 2 = 1 then 'post' end,
      case when i % 2 = 1 then i % 1000 + 1 end, i % 4 = 0, now() - (i * 37 % 101) * interval '1 minute', ${first}::bigint + i * 20, ''
    from generate_series(1, ${count}::int) i`
}

const filters: Omit<Filter, 'user' | 'isVisible'>[] = [
  {},
  { app: 2 },
  { app: 3 },
  { directory: 7 },
  { action: 'post_created' },
  { type: 'mention' },
  { isUnread: true },
  { isUnread: false, type: 'mention' },
]

/** What is listed, found out one by one. */
async function listPlainly(filter: Filter, q?: string): Promise<{ id: number; created_at: Date }[]> {
  const rows = await database.sql<Record<string, unknown>[]>`
    select n.id, n.user_id, n.app_id, n.action, n.type, n.is_unread, n.template, n.created_at, a.directory_id,
      a.trashed_at is null and a.deleted_at is null as is_app_live, p.id is not null as is_there,
      coalesce(m.hidden_id, 0) < n.link_id as is_later, c.id is not null as is_comment_there, r.id is not null as is_parent_there
    from notifications n left join apps a on a.id = n.app_id
    left join members m on m.app_id = n.app_id and m.user_id = n.user_id
    left join posts p on p.id = n.link_id and n.link_type = 'post' and p.trashed_at is null
    left join comments c on c.id = n.link_id and n.link_type = 'comment' and c.trashed_at is null
    left join posts r on r.id = n.parent_id and r.trashed_at is null
    order by n.id`
  return rows.filter(
    row =>
      (filter.user === null || row.user_id === filter.user) &&
      (!filter.isVisible || isVisible(row)) &&
      (filter.app === undefined || row.app_id === filter.app) &&
      (filter.directory === undefined || row.directory_id === filter.directory) &&
      (filter.action === undefined || row.action === filter.action) &&
      (filter.type === undefined || row.type === filter.type) &&
      (filter.isUnread === undefined || row.is_unread === filter.isUnread) &&
      (q === undefined || row.template === 'Ärger'),
  ) as unknown as { id: number; created_at: Date }[]
}

function isVisible(row: Record<string, unknown>): boolean {
  return Boolean(
    (row.app_id === null || row.is_app_live) &&
    (row.directory_id === null || row.user_id !== 5) &&
    row.is_later &&
    (row.is_there || (row.is_comment_there && row.is_parent_there)),
  )
}

test.each([
  { user: busy, isVisible: true },
  { user: calm, isVisible: true },
  { user: busy, isVisible: false },
  { user: null, isVisible: false },
])('each page holds what is listed, and the total is as many, of whatever is asked for (%o)', async who => {
  for (const filter of filters) {
    const shown = await listPlainly({ ...filter, ...who })
    for (const order_by of ['id', 'id desc', 'created_at', 'created_at desc,id desc']) {
      const sign = order_by.startsWith('created_at') ? (order_by.includes('desc') ? -1 : 1) : 0
      const sorted = shown.toSorted((a, b) => sign * (a.created_at.getTime() - b.created_at.getTime()) || a.id - b.id)
      // By time and then by id, or by id alone.
      if (order_by === 'id desc') sorted.reverse()
      if (order_by === 'created_at desc,id desc')
        sorted.sort((a, b) => b.created_at.getTime() - a.created_at.getTime() || b.id - a.id)
      for (const skip of [0, Math.floor(shown.length / 3), Math.max(0, shown.length - 5), shown.length]) {
        const page = toPage({ order_by, skip, take: 10 }, orderFields, 'id')

        const { rows, count } = await listNotifications(database.sql, { ...filter, ...who }, page)

        expect([count, rows.map(({ id }) => id)], `${JSON.stringify(filter)} ${order_by} ${skip}`).toEqual([
          shown.length,
          sorted.slice(skip, skip + 10).map(({ id }) => id),
        ])
      }
    }
  }
})

test.each([
  { user: busy, isVisible: true },
  { user: calm, isVisible: true },
  { user: null, isVisible: false },
])('a list pages through as many rows as its total says, each once (%o)', async who => {
  for (const filter of filters) {
    for (const q of [undefined, 'arger']) {
      const seen: number[] = []
      let total = 0
      do {
        const page = toPage({ q, skip: seen.length, take: 1_000 }, orderFields, 'id desc')
        const { rows, count } = await listNotifications(database.sql, { ...filter, ...who }, page)
        seen.push(...rows.map(({ id }) => id))
        total = count
        if (rows.length === 0) break
      } while (seen.length < total)

      expect(new Set(seen).size, `${JSON.stringify(filter)} ${q}`).toBe(total)
    }
  }
})

test('words are found whatever their case and accents', async () => {
  const shown = await listPlainly({ user: busy, isVisible: true }, 'arger')
  const page = toPage({ q: 'ARGER', take: 5 }, orderFields, 'id desc')

  const { rows, count } = await listNotifications(database.sql, { user: busy, isVisible: true }, page)

  expect(count).toBe(shown.length)
  expect(rows.map(({ id }) => id)).toEqual(
    shown
      .slice(-5)
      .map(({ id }) => id)
      .toReversed(),
  )
})

test('nobody pays for what others have, whatever PostgreSQL expects', async () => {
  await using own = await createDatabase()
  const { sql } = own
  await sql`insert into users (id, display_name, created_at) select i, 'U', now() from generate_series(1, 4) i`
  await sql`
    insert into notifications (id, user_id, type, action, actor_ids, template, created_at, changed_id, change)
    select i, case when i <= 10 then ${calm} when i > 20000 then 4 else 3 end, 'activity', 'custom', '{1}', '', now(), i, ''
    from generate_series(1, 40000) i`
  await sql`vacuum analyze notifications`

  for (const plan of ['custom', 'generic']) {
    for (const order_by of ['id', 'id desc', 'created_at', 'created_at desc']) {
      const reads = await rowsRead(sql, 'notifications', async tx => {
        await tx.unsafe(`set local plan_cache_mode = force_${plan}_plan`)
        await listNotifications(tx, { user: calm, isVisible: true }, toPage({ order_by, take: 9 }, orderFields, 'id'))
      })

      expect(reads, `${order_by}, ${plan} plan`).toBeLessThan(50)
    }
  }
})

test('who has many does not pay for them again with each page', async () => {
  const { sql } = database
  for (const filter of filters) {
    const page = toPage({ skip: 1_000, take: 5 }, orderFields, 'id desc')

    const reads = await rowsRead(sql, 'posts', tx =>
      listNotifications(tx, { ...filter, user: busy, isVisible: true }, page),
    )

    expect(reads, JSON.stringify(filter)).toBeLessThan(many)
  }
})
