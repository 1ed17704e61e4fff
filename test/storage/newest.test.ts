import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareEvents } from '../../src/jobs/storage-jobs.ts'
import { findNewest } from '../../src/resources/content/lists/newest.ts'
import type { Scope } from '../../src/resources/content/lists/scope.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'

const loud = 1
const itemCount = 60_000
const lastApp = 3_000
let database: Database

/**
 * One app has three of four messages, and 3,000 others the rest. Every tenth message has `common`, the oldest of each app
 * have `early`, one in 5,000 has `rare`; of a hundredth the terms are not made yet.
 */
beforeAll(async () => {
  database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, new Date())
  await sql`
    insert into apps (id, type, rev, head_rev, item_count, created_at, created_by)
    select n, 'chat', 1, 1, 1, now(), 1 from generate_series(1, ${lastApp}) n`
  await sql`insert into notification_cursors (app_id, rev, rolled_id) select id, 1, 0 from apps`
  await sql`
    insert into messages (id, app_id, text, created_at, created_by, trashed_at)
    select i, case when i % 4 = 0 then 2 + i / 4 % (${lastApp}::int - 1) else ${loud} end,
      'm' || case when i % 10 = 1 then ' common' else '' end || case when i <= 3000 then ' early' else '' end
        || case when i % 5000 = 7 then ' rare' else '' end,
      now(), 1 + i % 3, case when i % 50 = 1 then now() end
    from generate_series(1, ${itemCount}) i`
  await sql`insert into messages_terms select id, search_terms(app_id, text, '{}') from messages where id % 100 <> 57`
  await sql`
    insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, created_at)
    select app_id, 2, 1, 'message_created', 1, 'message', id, now() from messages where id % 100 = 57 and id > 59000`
  await sql`update apps set head_rev = 2 where id in (select app_id from events)`
  await sql`
    insert into messages_terms select id, search_terms(app_id, text, '{}') from messages
    where id % 100 = 57 and id <= 59000 on conflict do nothing`
  await sql`vacuum analyze messages, messages_terms, apps`
}, 60_000)
afterAll(() => database[Symbol.asyncDispose]())

const scopes: [string, Partial<Scope>][] = [
  ['one app', { apps: [loud] }],
  ['a loud app and some others', { apps: [loud, ...range(2, 200)] }],
  ['quiet apps', { apps: range(2, 50) }],
  ['so many apps that they are not walked each', { apps: range(1, 2_500) }],
  ['all apps, with an API key', { apps: null, administered: null }],
  ['what one user wrote', { apps: range(1, 100), createdBy: 2 }],
  ['an app of which the user has removed the beginning', { apps: [loud], hidden: [{ app: loud, id: 40_000 }] }],
]

for (const [where, scope] of scopes)
  test.each([1_000, itemCount, Infinity])(
    `the newest finds are the same as by looking at everything: ${where}, with %d items`,
    async about => {
      for (const q of ['common', 'earl', 'rare', 'common early', 'm'])
        for (const before of [undefined, 30_000, 9]) {
          const found = await find(scope, q, before, about)
          expect(found, `${q} before ${before}`).toEqual(await findByLooking(scope, q, before))
        }
    },
  )

test('a word that a tenth of everything has costs no more than the finds that are wanted', async () => {
  const reads = await rowsRead(database.sql, 'messages', async tx => {
    await findNewest(
      tx as never,
      { ...sought({ apps: range(1, 2_500) }), q: 'common' },
      { before: undefined, need: 26, enough: 26 },
    )
  })

  expect(reads).toBeLessThan(500)
})

function sought(scope: Partial<Scope>, about = itemCount) {
  const { sql } = database
  const whole = { apps: null, hidden: [], administered: [], author: 0, readOnly: [], ...scope }
  return { table: 'messages', scope: whole, itemCount: about, where: sql`` } as const
}

const find = (scope: Partial<Scope>, q: string, before: number | undefined, about: number) =>
  findNewest(database.sql, { ...sought(scope, about), q }, { before, need: 26, enough: 26 })

async function findByLooking(scope: Partial<Scope>, q: string, before = itemCount + 1): Promise<number[]> {
  const { sql } = database
  const { apps = null, createdBy = null, hidden = [] } = scope
  const rows = await sql<{ id: number }[]>`
    select id from messages
    where (${apps === null} or app_id = any(${apps ?? []}::bigint[])) and trashed_at is null and id < ${before}
      and (${createdBy}::bigint is null or created_by = ${createdBy}) and id > ${hidden[0]?.id ?? 0}
      and (' ' || text) ~ all(${q.split(' ').map(word => ` ${word}`)}::text[])
    order by id desc limit 26`
  return rows.map(({ id }) => id)
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, n) => first + n)
}
