import { expect, test } from 'vitest'
import { findAppId } from '../../src/resources/apps/store.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
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

test.each([
  ['agent_chat', 'chat_room', false],
  ['posts', 'agent_chat', false],
  // Whose it is, and whether it is the same app, the indexes know.
  ['agent_chat', 'agent_chat', true],
  ['posts', 'chat_room', true],
])('whether a uid of one of the %s is free for one of the %s: %s', async (taken, type, expected) => {
  await using database = await createDatabase()
  const { sql } = database
  await sql`
    insert into apps (type, uid, owner_id, rev, head_rev, created_at, created_by)
    values (${taken}, 'Plans', 1, 1, 1, now(), 1)`
  const free = async (wanted: string | null, known: string | null = null) =>
    (await sql`select free_uid(${wanted}, ${known}, ${type}) as uid`)[0]!.uid

  const asked = free('pLANS')
  if (expected) expect(await asked).toBe('pLANS')
  else await expect(asked).rejects.toMatchObject({ code: '23505', constraint_name: 'apps_uid' })
  expect([await free('others'), await free(null), await free(null, 'Plans')]).toEqual(['others', null, null])
  // An app keeps what it has had before.
  expect(await free('Plans', 'Plans')).toBe('Plans')

  await sql`update apps set deleted_at = now()`
  expect(await free('Plans')).toBe('Plans')
})

test('of two apps that want the same uid at once, the second waits to see whether the first has it', async () => {
  await using database = await createDatabase()
  const { sql } = database
  const make = (tx: Pick<typeof sql, 'unsafe'>, type: string) =>
    tx.unsafe(
      `insert into apps (type, uid, owner_id, rev, head_rev, created_at, created_by)
      values ($1, free_uid('Plans', null, $1), 1, 1, 1, now(), 1)`,
      [type],
    )
  const { second } = await sql.begin(async tx => {
    await make(tx, 'agent_chat')
    const second = make(sql, 'posts').execute()
    second.catch(() => {})
    const waiting = () => sql`
      select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`
    await eventually(async () => expect(await waiting()).toHaveLength(1))
    return { second }
  })

  await expect(second).rejects.toMatchObject({ code: '23505', constraint_name: 'apps_uid' })
})
