import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import type { Tx } from '../../src/postgres/sql.ts'
import { applyMark, markRead } from '../../src/resources/notifications/lists/marks.ts'
import { PostgresServer } from '../support/postgres-server.ts'
import { pagesRead } from '../support/rows-read.ts'

// A server of its own: any transaction that is open on a server may keep PostgreSQL from noting that entries are dead.
test('who looks for what is unread passes over the index entries of the many that were marked', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-dead-'))
  const server = await PostgresServer.start({ dir, isDurable: false })
  try {
    const { sql } = server
    await sql`alter system set autovacuum = off`
    await sql`select pg_reload_conf()`
    await migrate(sql, createLog('error'))
    await sql`insert into users (id, display_name, created_at) values (1, 'U', now())`
    await sql`
      insert into notifications (id, user_id, type, action, actor_ids, template, created_at, changed_id, change)
      select nextval('notification_changes'), 1, 'activity', 'x', '{3}', '', now(), currval('notification_changes'), ''
      from generate_series(1, 3000)`
    await sql.begin(tx => markRead(tx as never, { user: 1 }))

    while (await applyMark(sql)) continue

    // 72 pages of the index and of the rows that it names, if nothing has been noted.
    const look = (tx: Tx) =>
      tx`select from notifications where user_id = 1 and is_unread order by user_id, app_id limit 1`
    expect(await pagesRead(sql, look)).toBeLessThan(40)
  } finally {
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  }
})
