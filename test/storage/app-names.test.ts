import { afterAll, beforeAll, expect, test } from 'vitest'
import { listApps } from '../../src/resources/apps/lists/pages.ts'
import { orderFields } from '../../src/resources/apps/lists/source.ts'
import { toPage } from '../../src/api/page.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'

/** Somebody who is in every app, and as many apps with a name of their own as without one. */
const [busy, count] = [1, 3_000]
let database: Database

beforeAll(async () => {
  database = await createDatabase()
  const { sql } = database
  await sql`
    insert into users (id, uid, display_name, created_at)
    select i, 'u' || i, case when i % 1000 = 7 then 'Zoë Łuk' else 'Person ' || i end, now() from generate_series(1, ${count + 1}::int) i`
  await sql`
    insert into apps (id, type, name, rev, head_rev, created_at, created_by)
    select i, 'chat_room', case when i > ${count} then case when i % 1000 = 9 then 'Café “Zoe”' else 'Room ' || i end end,
      i, i, now(), 1
    from generate_series(1, ${2 * count}::int) i`
  await sql`
    insert into members (app_id, user_id, access, joined_rev)
    select i, ${busy}::bigint, 'write', 1 from generate_series(1, ${2 * count}::int) i
    union all select i, 1 + i, 'write', 2 from generate_series(1, ${count}::int) i`
  await sql`vacuum analyze`
})
afterAll(() => database[Symbol.asyncDispose]())

const filterOf = (kind: 'user' | 'key') => ({
  by: { kind, user: kind === 'key' ? 0 : busy, credential: '' },
  types: [],
  directory: null,
  member: null,
  isArchived: null,
  isUnread: null,
  hasUid: null,
  uids: null,
})

const given = [3_009, 4_009, 5_009]
const computed = [6, 1_006, 2_006]

/** Of memberships, some are counted to know whether all are worth looking at; of a common word’s people, which is rarer. */
const limits = [
  ['apps', 50],
  ['members', 1_100],
  ['users', 2_100],
] as const

test.each([
  ['zoe', [...computed, ...given]],
  ['ZOE luk', computed],
  ['luk,', []],
  ['person ZOË', []],
  ['CAFE “zo', given],
  ['”', given],
  ['oe', []],
])('of all apps, only those are looked at whose names have the words of %s', async (q, expected) => {
  for (const kind of ['user', 'key'] as const) {
    // An API key sees everybody’s name, and is nobody of whom there would be another.
    const found = kind === 'key' && q === 'person ZOË' ? computed : expected
    for (const [table, most] of limits) {
      for (const plan of ['custom', 'generic']) {
        let list: Awaited<ReturnType<typeof listApps>> | undefined

        const reads = await rowsRead(database.sql, table, async tx => {
          await tx.unsafe(`set local plan_cache_mode = force_${plan}_plan`)
          list = await listApps(tx, filterOf(kind), toPage({ q }, orderFields, 'id'))
        })

        expect(list, `${kind} ${plan}`).toEqual({ ids: found, count: found.length })
        expect(reads, `${kind} ${table} ${plan}`).toBeLessThan(most)
      }
    }
  }
})
