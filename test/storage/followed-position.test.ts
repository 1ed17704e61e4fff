import { expect, test } from 'vitest'
import { UserCache } from '../../src/auth/user-cache.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { eventTypes } from '../../src/resources/index.ts'
import { findPosition } from '../../src/resources/notifications/processing/backlog.ts'
import { Notifier } from '../../src/resources/notifications/processing/consumer.ts'
import { openActors } from '../support/actors.ts'
import { eventually } from '../support/eventually.ts'
import { allFollowed } from '../support/followed.ts'
import { openRooms, send } from '../support/rooms.ts'

/** The position follows some seconds behind. */
const patience = { timeoutMs: 20_000, everyMs: 100 }

test('messages that a killed node left are found by others, and the position passes none before they are done', async () => {
  await using database = await openRooms(3)
  const { sql, rooms } = database
  await using killed = await openActors(database.url)
  const before = await findPosition(sql)
  for (const room of rooms) await send(killed.apps, room)
  const [first] = await sql<{ rev: number }[]>`select min(rev) as rev from events where app_id > 0`
  const [newest] = await sql<{ rev: number }[]>`select max(rev) as rev from events`

  await using other = await openActors(database.url)
  const userCache = new UserCache(other.sql)
  const log = createLog('error')
  const parts = {
    sql: other.sql,
    apps: other.apps,
    userCache,
    events: eventTypes,
    patienceMs: 60_000,
    onNotifications: () => {},
    log,
  }
  const waiting = new Notifier({ ...parts, clock: { now: Date.now, after: () => () => {} } })
  await eventually(async () => {
    await waiting.sweep()
    expect((await findPosition(sql)).rev).toBe(first!.rev - 1)
  }, patience)
  expect(before.rev).toBeLessThan(first!.rev)
  expect(waiting.waiting).toBe(rooms.length)

  const notifier = new Notifier({ ...parts, clock: systemClock })
  await notifier.sweep()
  await allFollowed(sql)
  await eventually(async () => {
    await notifier.sweep()
    expect((await findPosition(sql)).rev).toBe(newest!.rev)
  }, patience)
  await notifier.stop()
})
