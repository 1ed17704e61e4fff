import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CommitConnection, OutcomeUnknown } from '../../src/engine/commit/connection.ts'
import { markRead, markUnread } from '../../src/resources/apps/own/mark.ts'
import { toFields } from '../../src/resources/apps/content-fields.ts'
import { parseText } from '../../src/resources/content/text/render.ts'
import { messageCommands } from '../../src/resources/messages/kind.ts'
import { WriteStatement, batch } from '../../src/postgres/batch.ts'
import { openConnection, type Sql } from '../../src/postgres/sql.ts'
import { openActors } from '../support/actors.ts'
import { eventually } from '../support/eventually.ts'
import { openRooms, send, system } from '../support/rooms.ts'

/** Resolves when somebody waits for a lock. */
async function isWaiting(sql: Sql): Promise<void> {
  await eventually(async () => {
    const waiting = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    expect(waiting).toHaveLength(1)
  })
}

test('what comes while a commit is under way has its turn after it, whichever app it is for', async () => {
  await using database = await openRooms(2)
  const { sql, rooms } = database
  const [held, free] = rooms as [number, number]
  await using node = await openActors(database.url)
  for (const room of rooms) await node.apps.state(room)

  const sent: Promise<unknown>[] = []
  await sql.begin(async tx => {
    await tx`select from apps where id = ${held} for update`
    sent.push(send(node.apps, held))
    await isWaiting(sql)
    sent.push(send(node.apps, free))
    // By then it was looked whether it can be committed.
    await nextTurn()
    await nextTurn()
  })

  await Promise.all(sent)
  expect(node.apps.waiting).toBe(0)
})

test('many that wait go in two commits of one size, a few in one', async () => {
  await using database = await openRooms(8)
  await using node = await openActors(database.url)
  const { apps, commits } = node
  for (const room of database.rooms) await apps.state(room)
  const sendAll = async (each: number) => {
    commits.length = 0
    await Promise.all(database.rooms.flatMap(room => Array.from({ length: each }, () => send(apps, room))))
    return commits
  }

  expect(await sendAll(10)).toEqual([40, 40])
  // Half of what waits, and of the 40 before.
  expect(await sendAll(12)).toEqual([68, 28])
  expect(await sendAll(4)).toEqual([32])
})

test('a read marker shares the commit of the next message, and is committed alone where none comes', async () => {
  await using database = await openRooms(2)
  const [busy, quiet] = database.rooms as [number, number]
  await using first = await openActors(database.url, { sharingMs: 60_000 })
  await send(first.apps, busy)
  await send(first.apps, quiet)
  const marked = first.apps.run(markRead, quiet, system, null)
  await nextTurn()
  await send(first.apps, busy)
  await marked
  expect(first.commits).toEqual([1, 1, 2])

  await using second = await openActors(database.url, { sharingMs: 1 })
  await send(second.apps, busy)
  await second.apps.run(markUnread, quiet, system, undefined)
  expect(second.commits).toEqual([1, 1])
})

test('only markers among messages wait: one alone, and what is sent to the same app before it, do not', async () => {
  await using database = await openRooms(2)
  const [busy, quiet] = database.rooms as [number, number]
  await using node = await openActors(database.url, { sharingMs: 60_000 })
  await node.apps.run(markRead, quiet, system, null)
  await node.apps.run(markUnread, quiet, system, undefined)
  expect(node.commits).toEqual([1, 1])

  await send(node.apps, busy)
  await Promise.all([send(node.apps, quiet), node.apps.run(markRead, quiet, system, null)])
  expect(node.commits).toEqual([1, 1, 1, 2])
})

test('what waits for its app to be loaded counts among all that waits, and is refused beyond the limit', async () => {
  await using database = await openRooms(20)
  await using node = await openActors(database.url)

  const sent = database.rooms.flatMap(room => Array.from({ length: 60 }, () => send(node.apps, room)))
  const waiting = node.apps.waiting
  const ends = await Promise.allSettled(sent)

  // The limit of these nodes.
  expect(waiting).toBe(1_000)
  const refused = ends.flatMap(end => (end.status === 'rejected' ? [end.reason as { status: number }] : []))
  expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 200 }, () => 503))
  expect(node.apps.waiting).toBe(0)
})

test('nodes that read before they decide wait for each other, and both come to their end', async () => {
  await using database = await openRooms(1)
  const { sql, rooms } = database
  const room = rooms[0]!
  await using one = await openActors(database.url)
  await using other = await openActors(database.url)
  for (const { apps } of [one, other]) await apps.state(room)
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const load = async () => {
    begun.resolve()
    await gate.promise
  }
  const content = { text: parseText('slow'), fields: toFields({}), parts: null, context: [] }

  const first = one.apps.run(
    { ...messageCommands.create, load } as typeof messageCommands.create,
    room,
    system,
    content,
  )
  await begun.promise
  const second = send(other.apps, room)
  await isWaiting(sql)
  gate.resolve()

  expect((await first).id).toBeLessThan((await second).id)
  const [kept] = await sql`select item_count::int from apps where id = ${room}`
  expect(kept).toEqual({ item_count: 2 })
})

test('a commit that is not answered in time is given up with its connection, and the next waits for nothing', async () => {
  await using database = await openRooms(2)
  const { sql, rooms } = database
  const open = () => openConnection({ url: database.url, statementTimeoutMs: 60_000 })
  const connection = new CommitConnection({ open, deadlineMs: 2_000 })
  const touch = batch<{ id: number }>({
    name: 'touch',
    columns: { id: 'bigint' },
    sql: list => `update apps a set name = 'x' from ${list} r where a.id = r.id`,
  })
  const statement = new WriteStatement()
  statement.add(touch, [{ id: rooms[0]! }])
  const { sharedRev, ahead } = await connection.begin({ apps: [], keys: [], count: 0, ahead: 1 })
  await connection.rollback()

  await sql.begin(async tx => {
    await tx`select from apps where id = ${rooms[0]!} for update`
    const known = { moved: [], unmoved: [], keys: [], sharedRev, drawnAtMs: ahead.atMs, count: 1 }
    await expect(connection.commitExact(statement, known)).rejects.toBeInstanceOf(OutcomeUnknown)

    const { heads } = await connection.begin({ apps: [rooms[1]!], keys: [], count: 1, ahead: 0 })
    expect([...heads.keys()]).toEqual([rooms[1]])
    await connection.rollback()
  })
  await connection.close()
})
