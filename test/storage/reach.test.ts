import { afterAll, beforeAll, expect, test } from 'vitest'
import { canRead } from '../../src/resources/apps/members/access.ts'
import { gatherReach, listReadable } from '../../src/resources/apps/members/readable.ts'
import { countLively, listLively } from '../../src/resources/content/lists/lively.ts'
import { KeptSearches } from '../../src/resources/content/lists/kept-search.ts'
import type { Scope } from '../../src/resources/content/lists/scope.ts'
import { contentStore, type OrderField } from '../../src/resources/content/store.ts'
import type { UserCache } from '../../src/auth/user-cache.ts'
import type { AppRow, MemberRow } from '../../src/engine/state.ts'
import { prepareEvents } from '../../src/jobs/storage-jobs.ts'
import type { Page } from '../../src/api/page.ts'
import { createDatabase, type Database } from '../support/database.ts'

const ann = 1
const store = contentStore('messages')
let database: Database

/** Apps in every state that it hangs on whether Ann may read them. */
beforeAll(async () => {
  database = await createDatabase()
  const { sql } = database
  await sql`insert into directories (id, name, created_at) values (7, 'seven', now()), (8, 'eight', now())`
  await sql`
    with states as (
      select row_number() over () as id, * from
        unnest(array['none', 'read', 'write']) open, unnest(array[null, 7, 8]::bigint[]) directory_id,
        unnest(array[null, ${ann}, 2]::bigint[]) owner_id, unnest(array['live', 'trashed', 'deleted']) state,
        unnest(array['nobody', null, 'none', 'read', 'write', 'admin']) access, unnest(array[null, 5]::bigint[]) hidden_id
    ), inserted as (
      insert into apps (id, type, access, directory_id, owner_id, rev, head_rev, head_at, created_at, created_by, item_count,
        made_count, trashed_at, deleted_at)
      select id, 'chat_room', open, directory_id, owner_id, id, id, timestamp '2026-01-01' + id * interval '1 minute', now(), 2,
        id % 5, id % 7, case when state = 'trashed' then now() end, case when state = 'deleted' then now() end from states
    )
    insert into members (app_id, user_id, access, joined_rev, hidden_id)
    select id, ${ann}, access, 1, hidden_id from states where access is distinct from 'nobody'`
  await sql`
    insert into messages (id, app_id, text, plain, created_at, created_by)
    select i, 1 + i % 900, plain, plain, now(), 2
    from generate_series(1, 40000) i, lateral (select 'often ' || case when i % 500 = 0 then 'rare' else '' end as plain) p`
  await sql`insert into messages_terms select id, search_terms(app_id, plain, tags) from messages`
  await prepareEvents(sql, new Date())
  await sql`vacuum analyze messages, messages_terms, apps, members`
})
afterAll(() => database[Symbol.asyncDispose]())

test('lists find the apps that a user may read by the rule by which an app that is in memory decides', async () => {
  const { sql } = database
  const apps = await sql<(AppRow & { own: MemberRow['access'] | undefined })[]>`
    select a.*, m.access as own from apps a left join members m on m.app_id = a.id and m.user_id = ${ann} order by a.id`
  const userCache = { find: () => ({ directories: [{ id: 7 }] }) } as unknown as UserCache
  const isListed = new Set((await listReadable(sql, ann, [7], sql`true`)).map(({ id }) => id))

  // An owner is an admin.
  const possible = apps.filter(({ owner_id, own }) => owner_id !== ann || own === 'admin')
  const wrong = possible.filter(app => {
    const member = () => ({ access: app.own }) as MemberRow
    return canRead({ app, member }, ann, userCache) !== isListed.has(app.id)
  })
  expect(possible.length).toBeGreaterThan(500)
  expect(wrong.map(({ id }) => id)).toEqual([])
})

test('what somebody may read is gathered by the same rule by which it is looked up one by one', async () => {
  const { sql } = database
  const which = sql`a.made_count > 0`
  const expected = await listReadable(sql, ann, [7], which)
  const idsOf = (those: typeof expected) => those.map(({ id }) => id).toSorted((a, b) => a - b)
  const counts = await sql<{ count: number }[]>`
    select sum(item_count)::int as count from apps where id = any(${idsOf(expected)}::bigint[]) and id < 300`

  const reach = await gatherReach(sql, { user: ann, directories: [7], which, counted: sql`a.id < 300`, lively: 3 })

  expect(expected.length).toBeGreaterThan(100)
  expect(reach.apps.toSorted((a, b) => a - b)).toEqual(idsOf(expected))
  expect(reach.administered.toSorted((a, b) => a - b)).toEqual(idsOf(expected.filter(({ is_admin }) => is_admin)))
  expect(reach.readOnly.toSorted((a, b) => a - b)).toEqual(idsOf(expected.filter(({ can_write }) => !can_write)))
  const hidden = expected.filter(({ hidden_id }) => hidden_id !== null)
  expect(reach.hidden).toEqual(idsOf(hidden).map(app => ({ app, id: 5 })))
  expect(reach.itemCount).toBe(counts[0]!.count)
  const newest = idsOf(expected).toReversed().slice(0, 3)
  expect(reach.lively).toEqual(newest.map(id => ({ id, head_at: new Date(Date.UTC(2026, 0, 1) + id * 60_000) })))
})

const page: Page<OrderField> = {
  skip: 0,
  take: 50,
  countOnly: false,
  order: [{ field: 'id', descending: false }],
  q: undefined,
  tags: [],
  trashed: false,
}

/** More apps than are asked for each by itself, and fewer than there are. */
function scopeOf(first: number): Scope {
  const apps = Array.from({ length: 400 }, (_, at) => first + at)
  return { apps, hidden: [], administered: [], author: ann, readOnly: [] }
}

test('what is rare is found in the apps that are searched alone, and so is what is written next', async () => {
  const { sql } = database
  const searches = new KeptSearches()
  const expected = await store.search(sql, scopeOf(1), { ...page, q: 'rare' })

  const found = await searches.find(sql, { store, scope: scopeOf(1), page: { ...page, q: 'rare' } })
  await sql`update messages set plain = 'often rare' where id = 2`
  await sql`update messages_terms set terms = search_terms(3, 'often rare', '{}') where id = 2`
  const later = await searches.find(sql, { store, scope: scopeOf(1), page: { ...page, q: 'rare' } })

  expect(expected.count).toBeGreaterThan(3)
  expect(found).toEqual(expected)
  expect(later.rows.map(({ id }) => id)).toEqual([2, ...expected.rows.map(({ id }) => id)])
})

test('what was often found a moment ago is shown without what is in the trash now, and only of apps that are asked for', async () => {
  const { sql } = database
  const searches = new KeptSearches()
  const asked = { ...page, q: 'often' }
  const before = await searches.find(sql, { store, scope: scopeOf(1), page: asked })
  const [first, ...others] = before.rows

  await sql`update messages set trashed_at = now() where id = ${first!.id}`
  const after = await searches.find(sql, { store, scope: scopeOf(1), page: asked })
  const elsewhere = await searches.find(sql, { store, scope: scopeOf(500), page: asked })

  expect(after.rows).toEqual(others)
  expect(after.count).toBe(before.count)
  expect(elsewhere.rows).toHaveLength(50)
  expect(elsewhere.rows.every(({ app_id }) => app_id >= 500 && app_id < 900)).toBe(true)
})

test('far pages of all that there is have what nearer ones would go on with', async () => {
  const { sql } = database
  await sql`update messages set trashed_at = now() where id % 97 = 0`
  const rows = await sql<{ id: number }[]>`
    select m.id from messages m join apps a on a.id = m.app_id
    where m.trashed_at is null and a.trashed_at is null and a.deleted_at is null order by m.id offset 10001 limit 50`
  const scope: Scope = { apps: null, hidden: [], administered: null, author: 0, readOnly: [] }

  const far = await store.list(sql, scope, { ...page, skip: 10_001 })

  expect(rows).toHaveLength(50)
  expect(far.map(({ id }) => id)).toEqual(rows.map(({ id }) => id))
})

test('what somebody may restore in very many apps is their own, and all that is in those they administer', async () => {
  const { sql } = database
  const apps = Array.from({ length: 600 }, (_, at) => 1 + at)
  const administered = [5, 7]
  await sql`update messages set trashed_at = now(), created_by = case when id % 2 = 0 then ${ann}::bigint else 2 end where id % 89 = 0`
  await sql`
    update apps a set trashed_count = (select count(*) from messages m where m.app_id = a.id and m.trashed_at is not null)`
  const expected = await sql<{ id: number }[]>`
    select id from messages where trashed_at is not null and app_id <= 600 and (created_by = ${ann} or app_id = any(${administered}::bigint[]))
    order by id`
  const scope: Scope = { apps, hidden: [], administered, author: ann, readOnly: [] }
  const asked = { ...page, trashed: true, take: expected.length + 1 }

  const listed = await store.list(sql, scope, asked)

  expect(expected.length).toBeGreaterThan(50)
  expect(listed.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
  expect(await store.count(sql, scope, asked)).toBe(expected.length)
})

test('the newest of all apps are the same where read markers have made other apps lively', async () => {
  const { sql } = database
  await sql`update messages set created_at = now() - (40000 - id) * interval '1 second', trashed_at = null`
  await sql`update messages set updated_at = now() + interval '1 minute' where id = 11`
  const types = ['chat_room']
  const live = await sql<
    { id: number }[]
  >`select id from apps where trashed_at is null and deleted_at is null and made_count > 0`
  await sql`
    update apps a set head_at = greatest(timestamp 'epoch',
      (select max(greatest(m.created_at, m.updated_at)) from messages m where m.app_id = a.id),
      case when id % 2 = 0 then now() + interval '2 minutes' end)`
  const apps = live.map(({ id }) => id).filter(id => id <= 900)
  const scope: Scope = { apps, hidden: [], administered: [], author: ann, readOnly: [] }

  for (const field of ['created_at', 'updated_at'] as const) {
    const order = [
      { field, descending: true },
      { field: 'id' as const, descending: true },
    ]
    const asked = { ...page, take: 20, order }
    const most = countLively(asked)!
    const lively = await store.listLively(sql, types, apps, most + 1)
    const expected = await store.list(sql, scope, asked)

    const rows = await listLively(sql, store, { scope, page: asked, most, lively })

    expect(lively.length).toBeGreaterThan(201)
    expect(rows!.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
  }
})
