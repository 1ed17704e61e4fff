import { afterAll, beforeAll, expect, test } from 'vitest'
import { toLayout } from '../../bench/large/layout.ts'
import { load } from '../../bench/large/load.ts'
import { sizes } from '../../bench/large/size.ts'
import { commonWord } from '../../bench/large/words.ts'
import { listApps } from '../../src/resources/apps/lists/pages.ts'
import { orderFields as appFields, type AppFilter } from '../../src/resources/apps/lists/source.ts'
import { listNotifications, orderFields } from '../../src/resources/notifications/lists/pages.ts'
import { listMemberIds, orderFields as memberFields } from '../../src/resources/apps/members/store.ts'
import { listPersons } from '../../src/resources/users/lists/pages.ts'
import type { Principal } from '../../src/auth/principal.ts'
import { isFoundIn } from '../../src/resources/content/lists/search.ts'
import { countLively, listLively } from '../../src/resources/content/lists/lively.ts'
import { contentStore, orderFields as contentFields } from '../../src/resources/content/store.ts'
import { toPage, type Listing } from '../../src/api/page.ts'
import type { Db, Sql, Tx } from '../../src/postgres/sql.ts'
import type { z } from 'zod'
import { createDatabase, type Database } from '../support/database.ts'

/** The seeded deployment of the bench, a hundredth of it: plans are those of a database that is in use. */
const size = sizes.small
const { loud, crowded } = toLayout(size)
let database: Database

beforeAll(async () => {
  database = await createDatabase()
  await load(database.url, size, () => {})
}, 300_000)
afterAll(() => database[Symbol.asyncDispose]())

/** Tables that grow without end: a list that reads one from its beginning to its end costs more every day. */
const growing = ['messages', 'posts', 'comments', 'files', 'notifications', 'members', 'users', 'messages_terms']

interface Cost {
  /** Tables that were read from their beginning to their end. */
  scanned: string[]
  /** Pages of 8 KiB that were looked at, of tables and indexes. */
  pages: number
}

/** What PostgreSQL reads to answer, in one transaction, whose counts are exact. */
async function costOf(ask: (tx: Tx) => Promise<unknown>): Promise<Cost> {
  return database.sql.begin(async tx => {
    // Counts of earlier transactions may still be among those of this one.
    const before = await readCounts(tx)
    await ask(tx)
    const after = await readCounts(tx)
    const scanned = growing.filter(name => (after.scans.get(name) ?? 0) > (before.scans.get(name) ?? 0))
    return { scanned, pages: after.pages - before.pages }
  }) as Promise<Cost>
}

async function readCounts(tx: Tx): Promise<{ scans: Map<string, number>; pages: number }> {
  const rows = await tx<{ name: string; scans: number }[]>`
    select relname as name, seq_scan as scans from pg_stat_xact_user_tables`
  const [row] = await tx<{ pages: number }[]>`
    select sum(pg_stat_get_xact_blocks_fetched(oid))::bigint as pages from pg_class
    where relnamespace = 'public'::regnamespace`
  return { scans: new Map(rows.map(({ name, scans }) => [name, scans])), pages: row!.pages }
}

type Query = Partial<z.infer<typeof Listing>>

const key: Principal = { kind: 'key', user: 0, credential: '' } as unknown as Principal
const userOf = (user: number) => ({ kind: 'user', user, credential: '' }) as unknown as Principal

const notifications =
  (user: number | null, query: Query, more = {}) =>
  (db: Db) =>
    listNotifications(db, { user, isVisible: user !== null, ...more }, toPage(query, orderFields, 'id desc'))
const apps = (by: Principal, query: Query) => (db: Db) => {
  const filter: AppFilter = {
    ...{ by, types: [], directory: null, member: null, isArchived: null, isUnread: null, hasUid: null, uids: null },
  }
  return listApps(db, filter, toPage(query, appFields, 'id'))
}
const people = (by: Principal, query: Query) => (db: Db) =>
  listPersons(db, { by, directories: [] }, toPage(query, ['name', 'id', 'created_at'], 'name'))

const ordinary = size.users

/**
 * Each with the pages that it may take; guesses that hold with room to spare. For each of the 2,000 notifications that somebody
 * with many has, its app, membership and item are looked up: a dozen pages, nearly all of them the same.
 */
const lists: [string, (db: Db) => Promise<unknown>, number][] = [
  ['notifications of somebody with many', notifications(1, {}), 30_000],
  ['their unread ones', notifications(1, {}, { isUnread: true }), 10_000],
  ['a deep page of them', notifications(1, { skip: 1_500 }), 30_000],
  ['notifications of somebody with few', notifications(ordinary, {}), 100],
  ['apps of somebody in few', apps(userOf(ordinary), {}), 200],
  ['apps of somebody in many', apps(userOf(1), { order_by: 'rev desc' }), 3_000],
  ['all apps, with an API key', apps(key, {}), 500],
  ['all users, with an API key', people(key, {}), 300],
  ['users for somebody in no directory', people(userOf(ordinary), {}), 3_000],
]

test.each(lists)('%s: no table is read as a whole, and few pages are', async (_, ask, most) => {
  const { scanned, pages } = await costOf(ask)

  expect(scanned).toEqual([])
  expect(pages).toBeLessThan(most)
})

test('what somebody has written little of is found among what all others wrote', async () => {
  const rare = size.users + 1
  const [some] = await database.sql<{ id: number }[]>`select max(id) - 20 as id from messages`
  await database.sql`update messages set created_by = ${rare} where id >= ${some!.id}`
  await database.sql`update messages set created_by = ${rare} where id in (select id from messages order by id limit 20)`
  const store = contentStore('messages')
  const scope = { apps: null, hidden: [], administered: null, author: 0, readOnly: [], createdBy: rare }

  for (const order_by of ['id', 'id desc', 'created_at desc']) {
    const page = toPage({ order_by, take: 100 }, contentFields, 'id', 'along')
    let found = 0
    const { scanned, pages } = await costOf(async tx => {
      found = (await store.list(tx, scope, page)).length
      await store.count(tx, scope, page)
    })

    expect(found).toBeGreaterThan(20)
    expect(scanned).toEqual([])
    expect(pages).toBeLessThan(1_000)
  }
})

test.each([
  { order: 'created_at desc', skip: 0 },
  { order: 'updated_at desc', skip: 0 },
  { order: 'created_at desc', skip: 100 },
] as const)(
  'the first pages of all apps by $order, from $skip on, are found in few of them',
  async ({ order, skip }) => {
    const store = contentStore('messages')
    const scope = { apps: null, hidden: [], administered: null, author: 0, readOnly: [] }
    const page = toPage({ order_by: order, skip }, contentFields, 'id', 'along')
    const expected = await store.list(database.sql, scope, page)

    let rows: { id: number }[] | null = null
    const { scanned, pages } = await costOf(async tx => {
      const most = countLively(page)!
      const lively = await store.listLively(tx, ['private_chat', 'chat_room'], null, most + 1)
      rows = await listLively(tx as unknown as Sql, store, { scope, page, most, lively })
    })

    expect(rows!.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
    expect(scanned).toEqual([])
    expect(pages).toBeLessThan(20_000)
  },
)

test('a word that many messages of an app have is looked up in the index alone, however little memory is set', async () => {
  const plan = await database.sql.begin(async tx => {
    await tx`set local work_mem = '64kB'`
    const isFound = isFoundIn(tx as unknown as Db, 'messages', [loud], {
      ...toPage({}, contentFields, 'id'),
      q: commonWord,
    })
    const [row] = await tx<{ plan: string }[]>`
      explain (analyze, buffers off, format json) select t.id from messages t where ${isFound}`
    return JSON.stringify(row)
  })

  expect(plan).toContain('"Bitmap Heap Scan"')
  expect(plan).not.toMatch(/"Lossy Heap Blocks":[1-9]/)
})

test('what somebody may restore in very many apps is found without the trash of others, and counted where it is kept', async () => {
  const store = contentStore('messages')
  const apps = Array.from({ length: 600 }, (_, at) => at * 2 + 1)
  const [administered, readOnly] = [apps.filter(app => app % 3 === 0), apps.filter(app => app % 7 === 0 && app % 3 > 0)]
  const [own] = await database.sql<{ author: number }[]>`
    select created_by as author from messages
    where trashed_at is not null and app_id = any(${apps}) and app_id <> all(${[...administered, ...readOnly]})
    order by id limit 1`
  const scope = { apps, hidden: [], administered, author: own!.author, readOnly }
  const page = toPage({ trashed: 'true', take: 50, skip: 10 }, contentFields, 'id', 'along')
  const expected = await database.sql<{ id: number }[]>`
    select id from messages
    where trashed_at is not null and app_id = any(${apps})
      and (app_id = any(${administered}) or created_by = ${scope.author} and app_id <> all(${readOnly}))
    order by id`

  let [count, rows] = [0, [] as { id: number }[]]
  const { scanned, pages } = await costOf(async tx => {
    count = await store.count(tx, scope, page)
    rows = await store.list(tx, scope, page)
  })

  expect(count).toBe(expected.length)
  expect(rows.map(({ id }) => id)).toEqual(expected.slice(10, 60).map(({ id }) => id))
  expect(scanned).toEqual([])
  expect(pages).toBeLessThan(3_000)
})

/** With a third of all users in the trash, until it is rolled back. */
async function costWithManyInTheTrash(ask: (tx: Tx) => Promise<unknown>): Promise<number> {
  const undone = new Error('undone')
  let pages = 0
  const work = database.sql.begin(async tx => {
    await tx`update users set trashed_at = now() where id > 1000 and id % 3 = 0`
    await tx`analyze users`
    const before = await readCounts(tx)
    await ask(tx)
    pages = (await readCounts(tx)).pages - before.pages
    throw undone
  })
  await expect(work).rejects.toBe(undone)
  return pages
}

test('members of a large room are counted without looking each user in the trash up', async () => {
  const filter = { app: crowded, memberCount: size.crowd, by: key, isMember: true, isAgent: undefined }
  const page = toPage({}, memberFields, 'name')

  const pages = await costWithManyInTheTrash(tx =>
    listMemberIds(tx as unknown as Sql, { ...filter, withSystem: false, isPrefix: true }, page),
  )

  expect(pages).toBeLessThan(2_500)
})

test('the deployment is what the server would have made: totals that are kept are right', async () => {
  const { sql } = database

  const apart = await sql`
    select a.id from apps a cross join lateral (
      select count(*) as made, count(*) filter (where m.trashed_at is null) as visible,
        max(m.id) filter (where m.trashed_at is null) as last_id
      from messages m where m.app_id = a.id
    ) m
    where a.type in ('private_chat', 'chat_room')
      and (a.made_count, a.item_count) is distinct from (m.made, m.visible) and a.last_id is distinct from m.last_id`
  const posts = await sql`
    select p.id from posts p where p.comment_count <> (
      select count(*) from comments c where c.parent_id = p.id and c.trashed_at is null)`
  const [blocks] = await sql<{ blocks: number; trashed: number }[]>`
    select count(*) as blocks, sum(trashed_count)::int as trashed from blocks where app_id = ${loud}`
  const [trashed] = await sql<{ count: number }[]>`
    select count(*) as count from messages where app_id = ${loud} and trashed_at is not null`

  expect(apart).toHaveLength(0)
  expect(posts).toHaveLength(0)
  expect(blocks).toEqual({ blocks: size.messages / 5 / 1_000, trashed: trashed!.count })
})
