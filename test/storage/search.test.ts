import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Scope } from '../../src/resources/content/lists/scope.ts'
import { contentStore, type OrderField } from '../../src/resources/content/store.ts'
import { prepareEvents } from '../../src/jobs/storage-jobs.ts'
import type { Page } from '../../src/api/page.ts'
import type { Tx } from '../../src/postgres/sql.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'

const store = contentStore('messages')
const [quiet, noisy] = [1, 2]
let database: Database

/** In the quiet app one message in 300 has the word and the tag, in the noisy one each. */
beforeAll(async () => {
  database = await createDatabase()
  const { sql } = database
  await sql`
    insert into messages (id, app_id, text, plain, tags, created_at, created_by)
    select i, app, plain, plain, case when is_found then '{it''s urgent}'::text[] else '{}' end, now(), 1
    from generate_series(1, 6000) i, lateral (select 1 + i % 2 as app) a,
      lateral (select app = ${noisy} or i % 300 = 0 as is_found) f,
      lateral (select 'Message ' || i || case when is_found then ' saw a “Zèbra”' else '' end as plain) p`
  await sql`insert into messages_terms select id, search_terms(app_id, plain, tags) from messages`
  await sql`vacuum analyze messages, messages_terms`
})
afterAll(() => database[Symbol.asyncDispose]())

for (const what of [
  { q: 'zeb' },
  { q: 'a ZÉBRA' },
  { tags: ["it's urgent", 'another'] },
  { q: 'saw', tags: ["it's urgent"] },
]) {
  test(`of what an app holds, only what is found is read: ${JSON.stringify(what)}`, async () => {
    const page = { ...wholePage, ...what }
    let found: Awaited<ReturnType<typeof store.search>> | undefined

    const reads = await rowsRead(database.sql, 'messages', async tx => {
      found = await store.search(tx, scopeOf(quiet), page)
    })

    expect(found!.count).toBe(20)
    expect(found!.rows.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, i) => (i + 1) * 300))
    // Each once to be found, and once to be shown.
    expect(reads).toBe(40)
  })
}

test('nor does it matter in how many apps it is looked for', async () => {
  const scope = { ...scopeOf(quiet), apps: [quiet, ...Array.from({ length: 5_000 }, (_, i) => 100 + i)] }
  let count = 0

  const reads = await rowsRead(database.sql, 'messages', async tx => {
    count = (await store.search(tx, scope, { ...wholePage, q: 'zeb', tags: ["it's urgent"] })).count
  })

  expect({ count, reads }).toEqual({ count: 20, reads: 40 })
})

for (const [what, ids] of [
  [{ q: 'message 300' }, [300, ...Array.from({ length: 10 }, (_, i) => 3_000 + i)]],
  [{ q: 'saw 599', tags: ["it's urgent"] }, [599, 5_991, 5_993, 5_995, 5_997, 5_999]],
] as const) {
  test(`of all apps together, only what is found is read: ${JSON.stringify(what)}`, async () => {
    let found: Awaited<ReturnType<typeof store.search>> | undefined

    const reads = await rowsRead(database.sql, 'messages', async tx => {
      found = await store.search(
        tx,
        { ...scopeOf(quiet), apps: null, administered: null },
        { ...wholePage, q: what.q, tags: 'tags' in what ? [...what.tags] : [] },
      )
    })

    expect(found!.rows.map(({ id }) => id)).toEqual(ids)
    expect(reads).toBe(2 * ids.length)
  })
}

test('of all apps together, what was written since terms were made last is found, and what it said before is not', async () => {
  const { sql } = database
  await prepareEvents(sql, new Date())
  await sql`insert into messages (id, app_id, text, created_at, created_by) values (7001, ${quiet}, 'A walrus', now(), 1)`
  await sql`insert into messages_terms values (7001, search_terms(${quiet}, 'An otter', '{}'))`
  await sql`
    insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, created_at)
    values (${quiet}, 9, 0, 'message_updated', 1, 'message', 7001, now())`
  await sql`insert into notifiable (app_id, rev) values (${quiet}, 9)`
  const everywhere = { ...scopeOf(quiet), apps: null, administered: null }

  const written = await store.search(sql, everywhere, { ...wholePage, q: 'walrus' })
  const before = await store.search(sql, everywhere, { ...wholePage, q: 'otter' })

  expect([written.rows.map(({ id }) => id), before.rows]).toEqual([[7001], []])
})

test.each(['custom', 'generic'])('what is looked for is worked out once for all apps: %s plan', async plan => {
  const apps = Array.from({ length: 1_000 }, (_, i) => i + 1)

  const calls = await database.sql.begin(async tx => {
    await tx.unsafe(`set local plan_cache_mode = force_${plan}_plan; set local track_functions = 'all'`)
    await store.search(tx as unknown as Tx, { ...scopeOf(quiet), apps }, { ...wholePage, q: 'zeb' })
    const [row] = await tx`select calls from pg_stat_xact_user_functions where funcname = 'search_query'`
    return row?.calls ?? 0
  })

  // Planning may try it, too.
  expect(calls).toBeLessThan(20)
})

test('who searches in many apps puts in order what was written lately, once for all of them', async () => {
  const { sql } = database
  await sql`
    insert into messages_terms select 10_000 + i, search_terms(${quiet}, 'recent ' || i, '{}') from generate_series(1, 500) i`
  const unsorted = async () =>
    (await sql<{ pages: number }[]>`select gin_clean_pending_list('messages_terms_search') as pages`)[0]!.pages

  await store.search(
    sql,
    { ...scopeOf(quiet), apps: Array.from({ length: 100 }, (_, i) => i + 1) },
    { ...wholePage, q: 'zeb' },
  )

  expect(await unsorted()).toBe(0)
})

const wholePage: Page<OrderField> = {
  skip: 0,
  take: 100,
  countOnly: false,
  order: [{ field: 'id', descending: false }],
  q: undefined,
  tags: [],
  trashed: false,
}

function scopeOf(app: number): Scope {
  return { apps: [app], parent: null, hidden: [], administered: [app], author: 1, readOnly: [] }
}
