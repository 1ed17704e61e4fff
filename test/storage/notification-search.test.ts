import { expect, test } from 'vitest'
import { updateRollUp } from '../../src/resources/notifications/projection/store.ts'
import { listNotifications, orderFields } from '../../src/resources/notifications/lists/pages.ts'
import type { Draft } from '../../src/resources/notifications/schema.ts'
import { insertDrafts } from '../../src/resources/notifications/store.ts'
import { termJob } from '../../src/resources/notifications/processing/terms.ts'
import { toPage } from '../../src/api/page.ts'
import type { Db, Sql, Tx } from '../../src/postgres/sql.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { rowsRead } from '../support/rows-read.ts'

/** Two who are told the same of 6,000 messages, and one of whom little is known. */
const [ann, ben, eve] = [1, 2, 3]
const count = 6_000

async function createWorld(): Promise<Database> {
  const database = await createDatabase()
  const { sql } = database
  await sql`insert into users (id, display_name, created_at) select i, 'U' || i, now() from generate_series(1, 3) i`
  await sql`
    insert into messages (id, app_id, text, plain, created_at, created_by)
    select i, 1, '', '', now(), 3 from generate_series(1, 10000) i`
  return database
}

const tell = (user: number, link: number | null, text: string, template = '**{0}** wrote: "{1}"'): Draft => ({
  user_id: user,
  app_id: null,
  type: 'activity',
  action: 'vote_added',
  actor_ids: [eve],
  template,
  args: ['Zoë', text],
  link_type: link === null ? null : 'message',
  link_id: link,
  parent_type: null,
  parent_id: null,
  metadata: null,
  created_at: new Date(),
  from_id: null,
})

const told = (sql: Sql, drafts: Draft[]) =>
  sql.begin(tx => insertDrafts(tx as unknown as Tx, drafts)) as Promise<number[]>

/** Two turns at most pass until the job takes what was there before. */
async function keep(sql: Sql): Promise<void> {
  const job = termJob({ sql, waiting: () => 0, observe: () => {} })
  for (let turn = 0; turn < 4; turn++) await job.run(new AbortController().signal)
}

/** All that was told, also while others of the same PostgreSQL are in transactions that began before. */
async function keepAll(sql: Sql): Promise<void> {
  const isKept = async () => {
    await keep(sql)
    const [cursor] = await sql<{ is_last: boolean }[]>`
      select id >= (select max(id) from notifications) as is_last from notification_terms_cursor`
    expect(cursor!.is_last).toBe(true)
  }
  await eventually(isKept, { timeoutMs: 20_000 })
}

async function found(db: Db, user: number | null, q: string): Promise<number[]> {
  const { rows, count } = await listNotifications(db, { user }, toPage({ q, take: 100 }, orderFields, 'id'))
  expect(count).toBe(rows.length)
  return rows.map(({ id }) => id)
}

test('what was told, changed, and is told just now is found, and nothing else is looked at', async () => {
  await using database = await createWorld()
  const { sql } = database
  const both = (link: number, text: string) => [tell(ann, link, text), tell(ben, link, text)]
  const drafts = Array.from({ length: count }, (_, i) =>
    both(i + 1, i % 2_000 === 9 ? `a Zèbra ${i}!` : `message ${i}`),
  )
  const ids: number[] = []
  for (let first = 0; first < count; first += 1_000)
    ids.push(...(await told(sql, drafts.slice(first, first + 1_000).flat())))
  const zebras = (user: number) => [9, 2_009, 4_009].map(i => ids[2 * i + user - 1]!)
  const [custom] = await told(sql, [tell(ann, null, 'Straße v1.2')])
  await keepAll(sql)
  const [fresh] = await told(sql, [tell(ann, 9_001, 'one more zebra')])
  await sql.begin(tx =>
    updateRollUp(tx as unknown as Tx, {
      id: ids[0]!,
      actor_ids: [eve],
      template: '**{0}** saw {1}',
      args: ['Kim', 'a lion'],
      now: new Date(),
    }),
  )
  await sql`vacuum analyze notifications, notification_terms, messages`

  for (const [user, q, expected] of [
    [ann, 'zebra', [...zebras(ann), fresh]],
    [ben, 'ZEB', zebras(ben)],
    [null, 'zebra', [...zebras(ann), ...zebras(ben), fresh].sort((a, b) => a! - b!)],
    [ann, 'zoe zebra a', zebras(ann)],
    [ann, 'strasse', [custom]],
    [ann, 'v1.2', [custom]],
    [ben, 'strasse', []],
    [ann, 'lion', [ids[0]]],
    [ann, '4009!', [zebras(ann)[2]]],
    [ann, 'ebra', []],
    [ann, '0', []],
  ] as const) {
    for (const plan of ['custom', 'generic']) {
      // Some are counted, to know that these are not looked at one by one.
      for (const [table, most] of [
        ['notifications', 4_100],
        ['notification_terms', 20],
      ] as const) {
        const reads = await rowsRead(sql, table, async tx => {
          await tx.unsafe(`set local plan_cache_mode = force_${plan}_plan`)
          expect(await found(tx, user, q), `${user} ${q} ${plan}`).toEqual(expected)
        })

        expect(reads, `${user} ${q} ${table} ${plan}`).toBeLessThan(most)
      }
    }
  }
  const texts = await sql<{ count: number }[]>`select count(*) as count from notification_terms`
  expect(texts[0]!.count).toBe(count + 1)
})

test('what is committed late is found', async () => {
  await using database = await createWorld()
  const { sql } = database
  // Too many to be looked at one by one.
  for (let i = 0; i < 9; i++)
    await told(
      sql,
      Array.from({ length: 500 }, () => tell(ann, null, 'nothing')),
    )
  const [drawn, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const late = sql.begin(async tx => {
    const ids = await insertDrafts(tx as unknown as Tx, [tell(ann, 9_100, 'a late giraffe')])
    drawn.resolve()
    await end.promise
    return ids
  })
  await drawn.promise
  const [early] = await told(sql, [tell(ann, 9_101, 'an early giraffe')])

  await keep(sql)
  await keep(sql)
  end.resolve()
  const [id] = await late

  expect(await found(sql, ann, 'giraffe')).toEqual([id, early])
  await keepAll(sql)
  expect(await found(sql, ann, 'giraffe')).toEqual([id, early])
})

test('words go with the last notification that has them', async () => {
  await using database = await createWorld()
  const { sql } = database
  const texts = async () => (await sql`select from notification_terms`).length
  const links = [2, 1, null]
  await told(sql, [...links.map(link => tell(ann, link, 'a lion')), tell(ben, 1, 'a lion'), tell(ben, null, 'a lion')])
  await keepAll(sql)
  expect(await texts()).toBe(4)

  await sql`delete from notifications where user_id = ${ann}`
  expect(await texts()).toBe(2)
  expect(await found(sql, ben, 'lion')).toHaveLength(2)

  await sql`delete from notifications`
  expect(await texts()).toBe(0)
})

test('nothing is kept while many write', async () => {
  await using database = await createWorld()
  const { sql } = database
  await told(sql, [tell(ann, null, 'a quiet hippo')])
  const isKept = async () => (await sql`select from notification_terms where terms @@ 'hippo'`).length === 1

  const job = termJob({ sql, waiting: () => 100, observe: () => {} })
  for (let turn = 0; turn < 4; turn++) await job.run(new AbortController().signal)

  expect(await isKept()).toBe(false)
  await keepAll(sql)
  expect(await isKept()).toBe(true)
})
