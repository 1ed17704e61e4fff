import { expect, test } from 'vitest'
import { usableMs } from '../../src/log/id-pool.ts'
import { Watermark } from '../../src/log/watermark.ts'
import { prepareEvents } from '../../src/jobs/storage-jobs.ts'
import { openSql, type Db, type Sql } from '../../src/postgres/sql.ts'
import { listChangedApps } from '../../src/realtime/unloaded-apps/store.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const write = (db: Db, app: number) => db`
  insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, created_at)
  select ${app}, nextval('numbers'), 0, 'app_updated', 0, 'app', ${app}, now() from pg_current_xact_id()`

/** Returns a function that finds the apps which any node has written to since its last call. */
async function openLook(sql: Sql, nowMs: () => number): Promise<() => Promise<number[]>> {
  const watermark = new Watermark(sql, nowMs)
  await watermark.advance()
  return async () => {
    await watermark.advance()
    const changed = await listChangedApps(sql, watermark.from)
    watermark.confirm()
    return changed.map(({ app }) => app)
  }
}

test('what is committed after something with a larger number is found, however many looks later', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, new Date())
  const slow = openSql({ url: database.url, connections: 1, statementTimeoutMs: 10_000 })
  let now = 0
  const look = await openLook(sql, () => (now += 1_000))

  const late = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const transaction = slow.begin(async tx => {
    await write(tx as unknown as Db, 1)
    written.resolve()
    await late.promise
  })
  await written.promise
  await write(sql, 2)
  const before = [await look(), await look(), await look()]
  late.resolve()
  await transaction
  const after = await look()
  await slow.end()

  expect(before).toEqual([[2], [2], [2]])
  expect(after.toSorted()).toEqual([1, 2])
  // Transactions of other databases on the same server count as well.
  await eventually(async () => expect(await look()).toEqual([]))
})

test('what is committed with a number from before a look is found, as long as PostgreSQL accepts it', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, new Date())
  let now = 0
  const look = await openLook(sql, () => now)

  const [drawn] = await sql<{ number: number }[]>`select nextval('numbers') as number`
  await write(sql, 2)
  const before = []
  for (now = 0; now < usableMs; now += 500) before.push(await look())
  await sql`
    insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, created_at)
    values (1, ${drawn!.number}, 0, 'app_updated', 0, 'app', 1, now())`
  const after = await look()

  expect(before).toEqual([[2], [2], [2], [2]])
  expect(after.toSorted()).toEqual([1, 2])
  await eventually(async () => {
    now += 1_000
    expect(await look()).toEqual([])
  })
})

test('what is written after a crash of PostgreSQL is found, with numbers that it had given out before', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, new Date())
  let now = 0
  await write(sql, 1)
  const look = await openLook(sql, () => (now += 10_000))

  const [durable] = await sql<{ last: number }[]>`select last_value as last from numbers`
  const lost = await sql.reserve()
  await lost`begin`
  for (let i = 0; i < 5; i++) await write(lost, 2)
  await look()
  await lost`rollback`
  lost.release()
  // As recovery leaves it: what was not committed was never drawn.
  await sql`select setval('numbers', ${durable!.last})`
  const found = []
  for (let i = 0; i < 4; i++) {
    await write(sql, 3)
    found.push(await look())
  }

  expect(found).toEqual([[3], [3], [3], [3]])
})
