import { expect, test } from 'vitest'
import { comment } from '../../src/resources/comments/kind.ts'
import { listById } from '../../src/resources/content/lists/by-id.ts'
import { visible } from '../../src/resources/content/lists/positions/place.ts'
import { countBefore } from '../../src/resources/content/lists/positions/position.ts'
import type { Scope } from '../../src/resources/content/lists/scope.ts'
import { findNewest } from '../../src/resources/items/writing/newest.ts'
import { orderFields } from '../../src/resources/content/store.ts'
import { message } from '../../src/resources/messages/kind.ts'
import { toPage } from '../../src/api/page.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'

const [older, newer, small] = [1, 2, 3]
const half = 10_000

/** An app that was written to first, one that was written to since, and a small one between. */
async function fill(sql: Sql, analyze: 'at the end' | 'before the newer app'): Promise<void> {
  // PostgreSQL would do so by itself, at a time of its own.
  await sql.unsafe('alter table messages set (autovacuum_enabled = off)')
  await sql.unsafe('alter table comments set (autovacuum_enabled = off)')
  const last = { [older]: half, [newer]: 2 * half + 10, [small]: half + 10 }
  for (const [app, id] of Object.entries(last)) {
    await sql`
      insert into apps (id, type, rev, head_rev, created_at, created_by, item_count, last_id, last_by)
      values (${app}, 'chat', 1, 1, now(), 0, ${Number(app) === small ? 10 : half}, ${id}, ${id % 2})`
  }
  const write = async (app: number, first: number, count: number) => {
    await sql`
      insert into messages (id, app_id, created_at, created_by, updated_at)
      select id, ${app}, at, id % 2, case when id % 100 = 7 then at + interval '1 minute' end
      from generate_series(${first}::bigint, ${first + count - 1}::bigint) as m(id),
        lateral (select now() + id * interval '1 second' as at) a`
    // One post for each app, of the app's id; comments have ids of their own.
    await sql`
      insert into comments (id, app_id, parent_type, parent_id, created_at, created_by, updated_at)
      select id, app_id, 'post', app_id, created_at, created_by, updated_at from messages where app_id = ${app}`
    await sql`
      insert into blocks (app_id, parent_id, first_id)
      select ${app}, parent, id from unnest(array[0, ${app}::bigint]) parent,
        generate_series(${first}::bigint, ${first + count - 1}::bigint, 1000) id`
  }
  await write(older, 1, half)
  if (analyze === 'before the newer app') await sql.unsafe('vacuum analyze messages, comments')
  await write(small, half + 1, 10)
  await write(newer, half + 11, half)
  if (analyze === 'at the end') await sql.unsafe('vacuum analyze messages, comments')
}

/** How many rows of content PostgreSQL looks at for what is asked. */
async function countReads(sql: Sql, ask: (tx: Sql) => Promise<unknown>): Promise<number> {
  return sql.begin(async tx => {
    // Counters of a transaction start with what its connection has not reported yet.
    const look = async () => {
      const [row] = await tx<{ count: number }[]>`
        select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint as count
        from pg_stat_xact_user_tables where relname in ('messages', 'comments')`
      return row!.count
    }
    const before = await look()
    await ask(tx as unknown as Sql)
    return (await look()) - before
  })
}

const [oldestFirst, newestFirst] = ['id', 'id desc'].map(order_by => toPage({ order_by }, orderFields, 'id'))
const everything: Scope = { apps: null, hidden: [], administered: [], author: 1, readOnly: [] }

/** Each way to read the content of an app, or of a post. */
function readsOf(app: number, sql: Sql): Record<string, (tx: Sql) => Promise<unknown>> {
  const { store } = message
  const listed = { table: store.table, place: { app, parent: null }, shown: visible }
  const page = { range: {}, skipped: 0, count: 10, skip: 0, take: 5 }
  const apps = [app, 99]
  const own = { ...everything, apps: [app], parent: null }
  const byUpdate = (order_by: string) => toPage({ order_by }, orderFields, 'id', 'along')
  const comments = { table: comment.store.table, place: { app, parent: app }, shown: visible }
  const last = sql<{ last_id: number }[]>`select last_id from apps where id = ${app}`
  return {
    'the newest items': tx => store.listRecent(tx, app, 5),
    'the first page': tx => listById(tx, listed, { ...page, descending: false }),
    'the last page': tx => listById(tx, listed, { ...page, descending: true }),
    'the first page by update': tx => store.list(tx, own, { ...byUpdate('updated_at'), take: 5 }),
    'the last page by update': tx => store.list(tx, own, { ...byUpdate('updated_at desc'), take: 5 }),
    'the first page of a few apps': tx => store.list(tx, { ...everything, apps, parent: null }, oldestFirst!),
    'the last page of a few apps': tx => store.list(tx, { ...everything, apps, parent: null }, newestFirst!),
    'the first comments of a post': tx => listById(tx, comments, { ...page, descending: false }),
    'the last comments of a post': tx => listById(tx, comments, { ...page, descending: true }),
    'what is newest without the newest': async tx => findNewest(tx, app, (await last)[0]!.last_id),
    'how many are before the fifth': async tx => {
      const [fifth] = await listById(tx, listed, { ...page, skip: 4, take: 1, descending: false })
      return countBefore(tx, listed, fifth!.id)
    },
  }
}

/** Each way to read far into the half of all content that an app or a post holds. */
function deepReadsOf(app: number): Record<string, (tx: Sql) => Promise<unknown>> {
  const reads: Record<string, (tx: Sql) => Promise<unknown>> = {}
  for (const [what, { store }, parent] of [
    ['messages', message, null],
    ['comments', comment, app],
  ] as const) {
    const listed = { table: store.table, place: { app, parent }, shown: visible }
    const page = { range: {}, skipped: 0, count: half, skip: 7_500, take: 5 }
    const withOwn = { ...listed, shown: { ...visible, ownTrash: 1 } }
    const find = async (tx: Sql, skip: number) => (await listById(tx, listed, { ...page, skip, descending: false }))[0]!
    for (const descending of [false, true]) {
      const order = descending ? 'backwards' : 'forwards'
      reads[`${what} by id ${order}`] = tx => listById(tx, listed, { ...page, descending })
      reads[`${what} with own trash ${order}`] = tx => listById(tx, withOwn, { ...page, descending })
    }
    reads[`the place of one of the ${what}`] = async tx => countBefore(tx, listed, (await find(tx, 7_500)).id)
  }
  return reads
}

test.each(['at the end', 'before the newer app'] as const)(
  'a page costs what it shows, whatever else was written before and since (statistics taken %s)',
  async analyze => {
    await using database = await createDatabase()
    const { sql } = database
    await fill(sql, analyze)

    for (const plan of ['custom', 'generic']) {
      const costs: Record<string, number> = {}
      for (const app of [older, newer, small]) {
        for (const [what, ask] of Object.entries(readsOf(app, sql))) {
          costs[`${what} of app ${app}, ${plan} plan`] = await countReads(sql, async tx => {
            await tx.unsafe(`set local plan_cache_mode = force_${plan}_plan`)
            return ask(tx)
          })
        }
      }

      expect(Object.entries(costs).filter(([, count]) => count > 60)).toEqual([])
    }
  },
)

/** Each way to read the first content of several apps by time. */
function readsByTime(): Record<string, (tx: Sql) => Promise<unknown>> {
  const { store } = message
  const apps = [older, newer, small]
  const scope = { ...everything, apps, parent: null }
  const page = (order_by: string) => toPage({ order_by, take: 5 }, orderFields, 'id', 'along')
  return {
    'the first of several apps by time': tx => store.list(tx, scope, page('created_at')),
    'the last of several apps by update': tx => store.list(tx, scope, page('updated_at desc')),
  }
}

test('a deep page by id costs a few blocks, and so does the place of an item', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await fill(sql, 'at the end')

  for (const plan of ['custom', 'generic']) {
    const costs: Record<string, number> = {}
    for (const app of [older, newer]) {
      for (const [what, ask] of Object.entries({ ...deepReadsOf(app), ...readsByTime() })) {
        costs[`${what} of app ${app}, ${plan} plan`] = await countReads(sql, async tx => {
          await tx.unsafe(`set local plan_cache_mode = force_${plan}_plan`)
          return ask(tx)
        })
      }
    }

    expect(Object.entries(costs).filter(([, count]) => count > 3_000)).toEqual([])
  }
})
