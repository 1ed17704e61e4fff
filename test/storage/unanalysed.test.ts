import { afterAll, beforeAll, expect, test } from 'vitest'
import { toPage } from '../../src/api/page.ts'
import { addPartitions, findNewestRev } from '../../src/log/events.ts'
import type { Db, Fragment, Sql, Tx } from '../../src/postgres/sql.ts'
import { listConcerned } from '../../src/realtime/unloaded-apps/store.ts'
import { isFound, isFoundIn } from '../../src/resources/content/lists/search.ts'
import { orderFields as contentFields } from '../../src/resources/content/store.ts'
import { listNotifications, orderFields } from '../../src/resources/notifications/lists/pages.ts'
import { listProjected } from '../../src/resources/notifications/processing/backlog.ts'
import { createDatabase, type Database } from '../support/database.ts'

/**
 * A database in which only the event log has grown. Of a table that is empty and was never analysed, PostgreSQL expects
 * thousands of rows: nothing else may then be read as a whole for them.
 */
let database: Database

beforeAll(async () => {
  database = await createDatabase()
  const { sql } = database
  await addPartitions(sql, new Date())
  await sql`
    insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, created_at)
    select 1 + n % 500, n, 0, 'message_created', 1, 'message', n, now() from generate_series(1, 100000) n`
  await sql`analyze events`
  await sql`update pg_class set reltuples = -1, relpages = 0 where relname in ('notifiable', 'notification_cursors')`
})
afterAll(() => database[Symbol.asyncDispose]())

const words = toPage({ q: 'hello' }, contentFields, 'id')
const processed = { cursor: { app_id: 1, rev: 99_000 }, upcoming: { app_id: 1, rev: 99_900 } }

const questions: [string, (tx: Tx) => Promise<unknown>][] = [
  [
    'the notifications of a new user',
    tx => listNotifications(tx, { user: 1, isVisible: true }, toPage({}, orderFields, 'id desc')),
  ],
  [
    'their unread ones',
    tx => listNotifications(tx, { user: 1, isVisible: true, isUnread: true }, toPage({}, orderFields, 'id desc')),
  ],
  [
    'all notifications',
    tx => listNotifications(tx, { user: null, isVisible: false }, toPage({}, orderFields, 'id desc')),
  ],
  ['messages of apps by words', tx => select(tx, db => isFoundIn(db, 'messages', [1, 2, 3], words))],
  ['messages of all apps by words', tx => select(tx, db => db`true ${isFound(db, 'messages', words)}`)],
  [
    'events to be processed one by one',
    tx => listProjected(tx, [processed] as unknown as Parameters<typeof listProjected>[1]),
  ],
  ['apps that concern users', tx => listConcerned(tx as unknown as Sql, [1, 2, 3], [1, 2], 99_900)],
  ['the activity before an event', tx => findNewestRev(tx, 1, { rev: 99_900, types: ['message_created'] })],
]

const select = (tx: Tx, toCondition: (db: Db) => Fragment) => tx`select t.id from messages t where ${toCondition(tx)}`

test.each(questions)('%s: the event log is not read as a whole', async (_, ask) => {
  const scanned = await database.sql.begin(async tx => {
    const before = await countScans(tx)
    await ask(tx)
    return (await countScans(tx)) - before
  })

  expect(scanned).toBe(0)
})

/** How often partitions of the event log that have rows were read from beginning to end, in this transaction. */
async function countScans(tx: Tx): Promise<number> {
  const [row] = await tx<{ rows: number }[]>`
    select coalesce(sum(seq_tup_read), 0)::bigint as rows from pg_stat_xact_user_tables where relname like 'events%'`
  return row!.rows
}
