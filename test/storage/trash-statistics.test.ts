import { expect, test } from 'vitest'
import { toPage } from '../../src/api/page.ts'
import type { Tx } from '../../src/postgres/sql.ts'
import { contentStore, orderFields } from '../../src/resources/content/store.ts'
import { createDatabase } from '../support/database.ts'

/** How many entries of the indexes of what is in the trash this transaction has read. */
async function countEntries(tx: Tx): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select sum(pg_stat_get_xact_tuples_returned(i.oid))::bigint as count from pg_class i
    where relname in ('messages_trash', 'messages_trashed')`
  return row!.count
}

test.each(['custom', 'generic'])(
  'what somebody may restore in very many apps is not looked for in the trash of all, though PostgreSQL believes that empty (%s plan)',
  async plan => {
    await using database = await createDatabase()
    const { sql } = database
    await sql`alter table messages set (autovacuum_enabled = false)`
    await sql`
      insert into apps (id, type, access, rev, head_rev, created_at, created_by)
      select i, 'chat_room', 'read', 1, 1, now(), 1 from generate_series(1, 6000) i`
    await sql`
      insert into messages (id, app_id, created_at, created_by)
      select i, 1 + i % 6000, now(), 1 + i % 11 from generate_series(1, 60000) i`
    await sql`vacuum analyze messages, apps`
    await sql`update messages set trashed_at = now() where id % 7 = 3`
    await sql`
      update apps a set trashed_count = (select count(*) from messages m where m.app_id = a.id and m.trashed_at is not null)`
    const apps = Array.from({ length: 1_500 }, (_, at) => at * 2 + 1)
    const administered = apps.filter(app => app % 3 === 0)
    const store = contentStore('messages')
    const scope = { apps, hidden: [], administered, author: 5, readOnly: [] }
    const expected = await sql<{ id: number }[]>`
      select id from messages
      where trashed_at is not null and app_id = any(${apps})
        and (app_id = any(${administered}) or created_by = ${scope.author})
      order by id`
    expect(expected.length).toBeGreaterThan(500)

    await sql.begin(async tx => {
      await tx.unsafe(`set local plan_cache_mode = force_${plan}_plan`)
      const page = toPage({ trashed: 'true', take: 50, skip: 10 }, orderFields, 'id', 'along')
      // Counts of earlier transactions may still be among those of this one.
      const before = await countEntries(tx as never)
      const count = await store.count(tx as never, scope, page)
      const rows = await store.list(tx as never, scope, page)

      expect(count).toBe(expected.length)
      expect(rows.map(({ id }) => id)).toEqual(expected.slice(10, 60).map(({ id }) => id))
      // 8,571 are in the trash; the caller's own are read twice.
      expect((await countEntries(tx as never)) - before).toBeLessThan(2 * expected.length)
    })
  },
)
