import { expect, test } from 'vitest'
import { comment } from '../../src/resources/comments/kind.ts'
import type { ContentKind } from '../../src/resources/content/kind.ts'
import type { Scope } from '../../src/resources/content/scope.ts'
import { orderFields } from '../../src/resources/content/store.ts'
import { post } from '../../src/resources/posts/kind.ts'
import { toPage } from '../../src/storage/page.ts'
import type { Sql } from '../../src/storage/sql.ts'
import { createDatabase } from '../support/database.ts'

const [small, large] = [1, 2]

/** A small feed with a post and a comment, and a large one around it: 20,000 of each before and after. */
async function fill(sql: Sql): Promise<void> {
  await sql`
    insert into apps (id, type, rev, head_rev, created_at, created_by)
    select id, 'posts', 1, 1, now(), 0 from unnest(array[${small}, ${large}]::bigint[]) as a(id)`
  await sql`
    insert into posts (id, app_id, tags, created_at, created_by)
    select id, case when id = 20001 then ${small}::bigint else ${large}::bigint end,
      case when id = 20001 then '{mine}'::text[] else '{}' end, now(), 1
    from generate_series(1, 40000) as p(id)`
  await sql`
    insert into comments (id, app_id, parent_type, parent_id, created_at, created_by)
    select id + 100000, app_id, 'post', id, now(), 1 from posts`
  await sql.unsafe('vacuum analyze posts, comments, apps')
}

/** The items that a list shows, and how many rows of their table PostgreSQL looked at for it. */
async function read(sql: Sql, { store }: ContentKind, scope: Partial<Scope>, query: Parameters<typeof toPage>[0]) {
  const whole = { apps: [small], hidden: [], administered: [], author: 1, ...scope }
  return sql.begin(async tx => {
    const rows = await store.list(tx as unknown as Sql, whole, toPage(query, orderFields, 'id'))
    const [cost] = await tx<{ count: number }[]>`
      select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as count
      from pg_stat_xact_user_tables where relname = ${store.table}`
    return { ids: rows.map(({ id }) => id), cost: cost!.count }
  })
}

test('a list looks at what it shows, however much others have written before and since', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await fill(sql)

  const posts = [
    await read(sql, post, {}, {}),
    await read(sql, post, {}, { order_by: 'id desc' }),
    await read(sql, post, { parent: null }, { order_by: 'id desc', tag: ['mine'] }),
    await read(sql, post, { after: 20_000, before: 20_002 }, {}),
  ]
  const comments = [
    await read(sql, comment, {}, {}),
    await read(sql, comment, {}, { order_by: 'id desc' }),
    await read(sql, comment, { apps: null, parent: { type: 'post', id: 20_001 } }, {}),
  ]

  for (const { ids, cost } of posts) {
    expect(ids).toEqual([20_001])
    expect(cost).toBeLessThan(50)
  }
  for (const { ids, cost } of comments) {
    expect(ids).toEqual([120_001])
    expect(cost).toBeLessThan(50)
  }
})
