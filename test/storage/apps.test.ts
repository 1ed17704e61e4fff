import { expect, test } from 'vitest'
import { findAppId } from '../../src/resources/apps/store.ts'
import { createDatabase } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'

test('an app is found by its uid without looking at others', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await sql`
    insert into apps (type, uid, owner_id, rev, head_rev, created_at, created_by)
    select case when i % 2 = 0 then 'chat_room' else 'agent_chat' end, 'app-' || i, 1, 1, 1, now(), 1
    from generate_series(1, 4000) i`
  await sql`analyze apps`

  for (const kind of ['user', 'key'] as const) {
    const by = { kind, user: 1, credential: '' }
    expect(await rowsRead(sql, 'apps', tx => findAppId(tx, 'App-1000', by))).toBe(1)
    expect(await rowsRead(sql, 'apps', tx => findAppId(tx, 'App-1001', by))).toBe(1)
  }
})
