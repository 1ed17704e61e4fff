import { afterAll, beforeAll, expect, test } from 'vitest'
import { listFiles } from '../../src/resources/files/pages.ts'
import { orderFields } from '../../src/resources/files/store.ts'
import { toPage } from '../../src/api/page.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { rowsRead } from '../support/rows-read.ts'

/** A large app, and two small ones: one from before its files were made, one from after. */
const [large, before, after] = [1, 2, 3]
const count = 6000
let database: Database

beforeAll(async () => {
  database = await createDatabase()
  const { sql } = database
  await sql`
    insert into apps (id, type, rev, head_rev, created_at, created_by, item_count, trashed_count, made_count)
    values (${large}, 'files', 1, 1, now(), 1, ${count}, 0, ${count}), (${before}, 'files', 1, 1, now(), 1, 20, 4, 24),
      (${after}, 'files', 1, 1, now(), 1, 24, 0, 24), (4, 'files', 1, 1, now(), 1, 0, 0, 0)`
  await sql`
    insert into apps (id, type, rev, head_rev, created_at, created_by, made_count)
    select i, 'files', 1, 1, now(), 1, 1 from generate_series(100, 1099) i`
  await sql`
    insert into blobs (name, media_type, size, key, secret, created_at, created_by, checked_at)
    values ('a.txt', 'text/plain', 1, 'a', 's', now(), 1, now())`
  const add = (app: number, first: number, files: number) => sql`
    insert into files (id, app_id, rev, name, size, tags, created_at, created_by, updated_at, trashed_at)
    select ${first}::bigint + i, ${app}, i, case when i % 600 = 0 then 'annual_report-' else 'draft ' end || i * 7919 % 6007 || '.txt',
      i * 37 % 101, case when i % 600 = 0 then '{final}'::text[] else '{}' end, now() + i * 41 % 997 * interval '1 second', 1,
      case when i % 3 = 0 then now() + i * 43 % 991 * interval '1 second' end, case when ${app} = 2 and i % 6 = 0 then now() end
    from generate_series(1, ${files}::int) i`
  await add(before, 0, 24)
  await add(large, 100, count)
  await add(after, 10_000, 24)
  await sql`
    insert into file_versions (file_id, rev, app_id, blob_id, created_at, created_by)
    select f.id, f.rev, f.app_id, b.id, now(), 1 from files f, blobs b`
  await sql`insert into blocks (app_id, first_id) select ${large}, 100 + i from generate_series(1, ${count}::int, 1000) i`
  await sql`analyze file_versions, blobs, blocks, apps`
  // Rows whose visibility is not noted yet, because somebody may not see them, are looked at also where an index has all.
  await eventually(async () => {
    await sql`vacuum analyze files`
    const [pages] = await sql`select relpages, relallvisible from pg_class where relname = 'files'`
    expect(pages!.relallvisible).toBe(pages!.relpages)
  })
})
afterAll(() => database[Symbol.asyncDispose]())

const orders = orderFields.flatMap(field => [field, `${field} desc`])
const pageOf = (order_by: string, skip = 0, more = {}) =>
  toPage({ order_by, skip, take: 10, ...more }, orderFields, 'id', 'along')
const scopeOf = (...apps: number[]) => ({ apps, writable: apps })

test.each([
  [[large], 'false'],
  [[before], 'false'],
  [[before], 'null'],
  [[before], 'true'],
  [[before, large, after], 'null'],
] as const)('pages of apps %j hold what is there, in every order (trashed %s)', async (apps, trashed) => {
  const { sql } = database
  for (const order_by of orders) {
    const page = pageOf(order_by, 0, { trashed })
    const keys = page.order.map(({ field, descending }) => {
      const column = { name: 'lower(name)', updated_at: 'coalesce(updated_at, created_at)' }[field as string] ?? field
      return `${column} ${descending ? 'desc' : 'asc'}`
    })
    const isTrashed = { false: 'trashed_at is null', true: 'trashed_at is not null', null: 'true' }[trashed]
    const all = await sql.unsafe<{ id: number }[]>(
      `select id from files where app_id in (${apps.join()}) and ${isTrashed} order by ${keys.join()}`,
    )
    for (const skip of [0, 7, Math.floor(all.length / 2), 1_500, all.length - 3]) {
      const found = await listFiles(sql, scopeOf(...apps), { ...page, skip: Math.max(0, skip) })

      const expected = all.slice(Math.max(0, skip), Math.max(0, skip) + 10).map(({ id }) => id)
      expect([found.count, found.rows.map(({ id }) => id)], `${order_by} ${skip}`).toEqual([all.length, expected])
    }
  }
})

test('who may not restore what is in the trash does not see it', async () => {
  for (const [trashed, listed] of [
    ['true', 0],
    ['null', 20],
    ['false', 20],
  ] as const) {
    const found = await listFiles(database.sql, { apps: [before], writable: [] }, pageOf('name', 0, { trashed }))

    expect([found.count, found.rows.length]).toEqual([listed, Math.min(10, listed)])
  }
})

test.each(['custom', 'generic'])('a page costs what it shows, in every order: %s plans', async plan => {
  for (const apps of [[large], [before], [after], [before, after, 4]]) {
    for (const order_by of orders) {
      const reads = await rowsRead(database.sql, 'files', async tx => {
        await tx.unsafe(`set local plan_cache_mode = force_${plan}_plan`)
        await listFiles(tx, scopeOf(...apps), pageOf(order_by, 3))
      })

      expect(reads, `${apps.join()} by ${order_by}`).toBeLessThan(80)
    }
  }
})

test('a deep page looks at no row that it does not show; by id, at less than a block, from either end', async () => {
  for (const order_by of orders) {
    for (const skip of [2_500, 5_000]) {
      const reads = await rowsRead(database.sql, 'files', tx => listFiles(tx, scopeOf(large), pageOf(order_by, skip)))

      expect(reads, `${order_by} ${skip}`).toBeLessThan(order_by.startsWith('id') ? 1100 : 40)
    }
  }
})

for (const [where, apps] of [
  ['an app', [large]],
  ['many apps', [large, ...Array.from({ length: 1_000 }, (_, i) => 100 + i)]],
  ['all apps', null],
] as const) {
  for (const what of [{ q: 'REPORT' }, { q: 'annual rep' }, { tag: ['final'] }]) {
    test.each(['custom', 'generic'])(
      `of the files of ${where}, only those are read that are found: ${JSON.stringify(what)}, %s plans`,
      async plan => {
        let ids: number[] = []

        const reads = await rowsRead(database.sql, 'files', async tx => {
          await tx.unsafe(`set local plan_cache_mode = force_${plan}_plan`)
          const scope = { apps: apps && [...apps], writable: apps && [] }
          ids = (await listFiles(tx, scope, pageOf('id', 0, what))).rows.map(({ id }) => id)
        })

        expect(ids).toEqual(Array.from({ length: 10 }, (_, i) => 100 + 600 * (i + 1)))
        // Each to be found, counted, sorted, and shown.
        expect(reads).toBeLessThan(60)
      },
    )
  }
}
