import { afterAll, beforeAll, expect, test } from 'vitest'
import { listFiles, type OrderField } from '../../src/resources/files/store.ts'
import type { Page } from '../../src/storage/page.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'

const app = 1
const count = 6000
let database: Database

beforeAll(async () => {
  database = await createDatabase()
  const { sql } = database
  await sql`
    insert into blobs (name, media_type, size, key, secret, created_at, created_by, checked_at)
    values ('a.txt', 'text/plain', 1, 'a', 's', now(), 1, now())`
  await sql`
    insert into files (id, app_id, rev, name, tags, created_at, created_by)
    select i, ${app}, i, case when i % 600 = 0 then 'annual_report-' else 'draft ' end || i || '.txt',
      case when i % 600 = 0 then '{final}'::text[] else '{}' end, now(), 1
    from generate_series(1, ${count}::int) i`
  await sql`
    insert into file_versions (file_id, rev, app_id, blob_id, created_at, created_by)
    select f.id, f.rev, f.app_id, b.id, now(), 1 from files f, blobs b`
  await sql`insert into blocks (app_id, first_id) select ${app}, i from generate_series(1, ${count}::int, 1000) i`
  await sql`vacuum analyze files, file_versions, blobs, blocks`
})
afterAll(() => database[Symbol.asyncDispose]())

const page: Page<OrderField> = {
  skip: 0,
  take: 10,
  countOnly: false,
  order: [{ field: 'id', descending: false }],
  q: undefined,
  tags: [],
  trashed: false,
}

test('of the files before a page, less than a block is read, from either end', async () => {
  for (const [descending, skip, most] of [
    [false, 5000, 1100],
    [true, 3500, 1100],
    [true, 10, 40],
  ] as const) {
    const deep = { ...page, skip, order: [{ field: 'id' as const, descending }] }
    let ids: number[] = []

    const reads = await rowsRead(database.sql, 'files', async tx => {
      const { rows } = await listFiles(tx, { apps: [app], writable: [] }, deep, count)
      ids = rows.map(({ id }) => id)
    })

    expect(ids).toEqual(Array.from({ length: 10 }, (_, i) => (descending ? count - skip - i : skip + 1 + i)))
    expect(reads).toBeLessThan(most)
  }
})

for (const what of [{ q: 'REPORT' }, { q: 'annual rep' }, { tags: ['final'] }]) {
  test(`of the files of an app, only those are read that are found: ${JSON.stringify(what)}`, async () => {
    let ids: number[] = []

    const reads = await rowsRead(database.sql, 'files', async tx => {
      const { rows } = await listFiles(tx, { apps: [app], writable: [] }, { ...page, ...what })
      ids = rows.map(({ id }) => id)
    })

    expect(ids).toEqual(Array.from({ length: 10 }, (_, i) => 600 * (i + 1)))
    // Each to be counted, to be sorted, and to be shown.
    expect(reads).toBeLessThan(40)
  })
}
