import { expect, test } from 'vitest'
import { GlobalCommands } from '../../src/engine/global/global-commands.ts'
import { SharedLog } from '../../src/log/shared-log.ts'
import { UserCache } from '../../src/auth/user-cache.ts'
import { createLog } from '../../src/lib/log.ts'
import { Feed } from '../../src/resources/notifications/processing/feed.ts'
import type { Draft } from '../../src/resources/notifications/schema.ts'
import { insertDrafts, markRead } from '../../src/resources/notifications/store.ts'
import { openSql, type Tx } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'

test('a notification that is committed long after later ones is told, once', async () => {
  await using stage = await openStage()
  const { feed, told, pass } = stage
  const late = await stage.begin('late')
  await stage.add('early')

  for (let i = 0; i < 5; i++) await pass(10_000)
  const before = [...told]
  await late.commit()
  for (let i = 0; i < 3; i++) await feed.poll()

  expect(before).toEqual(['early'])
  expect(told).toEqual(['early', 'late'])
})

test('what a look that fails would have told, the next one tells', async () => {
  await using stage = await openStage()
  const { sql, feed, told } = stage
  const late = await stage.begin('late')
  await stage.add('early')
  await feed.poll()
  await late.commit()

  await sql`alter table notifications rename to elsewhere`
  for (let i = 0; i < 3; i++) await expect(feed.poll()).rejects.toThrow('notifications')
  await sql`alter table elsewhere rename to notifications`
  await feed.poll()

  expect(told).toEqual(['early', 'late'])
})

test('a change is told at once though PostgreSQL had given out its number before a crash', async () => {
  await using stage = await openStage()
  const { sql, told, pass } = stage
  await stage.add('early')
  await pass(1_000)

  const lost = await sql.reserve()
  await lost`begin`
  await lost`select nextval('notification_changes') from pg_current_xact_id(), generate_series(1, 5)`
  await pass(1_000)
  await lost`rollback`
  lost.release()
  // As recovery leaves it: what was not committed was never drawn.
  await sql`select setval('notification_changes', max(changed_id)) from notifications`
  for (const text of ['one', 'two', 'three', 'four']) {
    await stage.add(text)
    await pass(1_000)
    expect(told.at(-1)).toBe(text)
  }
})

test('a mark of many notifications is told once', async () => {
  await using stage = await openStage()
  const { sql, user, feed, told } = stage
  for (let i = 0; i < 120; i++) await stage.add(String(i))
  await feed.poll()
  told.length = 0

  await sql.begin(tx => markRead(tx as unknown as Tx, { user }))
  for (let i = 0; i < 3; i++) await feed.poll()

  expect(told).toEqual(['notifications_marked'])
})

/** A feed on a real database, for one user, with the clock in the test's hands. */
async function openStage() {
  const database = await createDatabase()
  const { sql } = database
  const slow = openSql({ url: database.url, connections: 1, statementTimeoutMs: 10_000 })
  const [user] = await sql<{ id: number }[]>`
    insert into users (display_name, created_at) values ('Ann', now()) returning id`
  const userCache = new UserCache(sql)
  await userCache.load([0, -1])
  const told: string[] = []
  let nowMs = 0
  const feed = new Feed({
    sql,
    globalCommands: new GlobalCommands(sql, new SharedLog(sql), () => new Date()),
    userCache,
    localUsers: () => [user!.id],
    send: (_, { type, notification }) => void told.push((notification as { text: string } | undefined)?.text ?? type),
    origin: () => '',
    nowMs: () => nowMs,
    log: createLog('error'),
  })
  await feed.start()
  const insert = (tx: Tx, template: string) => insertDrafts(tx, [{ ...draft, user_id: user!.id, template }])
  return {
    sql,
    user: user!.id,
    feed,
    /** The texts, or types of frames without one, in the order in which they were told. */
    told,
    async pass(ms: number) {
      nowMs += ms
      await feed.poll()
    },
    add: (text: string) => sql.begin(tx => insert(tx as unknown as Tx, text)),
    /** The same, up to its commit. */
    async begin(text: string) {
      const [written, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const ended = slow.begin(async tx => {
        await insert(tx as unknown as Tx, text)
        written.resolve()
        await end.promise
      })
      await written.promise
      return {
        async commit() {
          end.resolve()
          await ended
        },
      }
    },
    async [Symbol.asyncDispose]() {
      await feed.stop()
      await slow.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

const draft: Omit<Draft, 'user_id' | 'template'> = {
  app_id: null,
  type: 'activity',
  action: 'custom',
  actor_ids: [0],
  args: [],
  link_type: null,
  link_id: null,
  parent_type: null,
  parent_id: null,
  metadata: null,
  created_at: new Date(),
  from_id: null,
}
