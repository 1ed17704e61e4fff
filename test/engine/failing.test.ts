import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { command, loadingCommand } from '../../src/engine/command.ts'
import { batch } from '../../src/postgres/batch.ts'
import { eventually } from '../support/eventually.ts'
import { openActors } from '../support/actors.ts'
import { openRooms, send, system } from '../support/rooms.ts'

/** Writes what PostgreSQL refuses. */
const bug = command('bug', work =>
  work.write(
    batch<{ id: number }>({
      name: 'bug',
      columns: { id: 'bigint' },
      sql: rows => `insert into blocks (app_id, first_id) select null, id from ${rows} r`,
    }),
    { id: 1 },
  ),
)

test('what gathered while PostgreSQL is away is refused together, after one attempt', async () => {
  await using database = await openRooms(2)
  let attempts = 0
  const away = createServer(socket => {
    attempts++
    socket.destroy()
  })
  await once(away.listen(0, '127.0.0.1'), 'listening')
  const commitUrl = `postgres://parley@127.0.0.1:${(away.address() as AddressInfo).port}/parley`
  await using node = await openActors(database.url, { commitUrl })
  for (const room of database.rooms) await node.apps.state(room)

  const sent = await Promise.allSettled(Array.from({ length: 40 }, (_, i) => send(node.apps, database.rooms[i % 2]!)))

  for (const one of sent) expect(one).toMatchObject({ status: 'rejected', reason: { status: 503 } })
  // The commit and its end, each with what postgres.js had sent along.
  expect(attempts).toBeLessThan(10)
  away.close()
})

test('what waits for a lock with others is tried alone once, not one after the other', async () => {
  await using database = await openRooms(2)
  const { sql, rooms } = database
  const held = rooms[0]!
  await using node = await openActors(database.url, { statementTimeoutMs: 300 })
  await node.apps.state(held)

  await sql.begin(async tx => {
    await tx`select from apps where id = ${held} for update`
    // No more than go together at once.
    const sent = Array.from({ length: 30 }, () => send(node.apps, held).catch((error: unknown) => error))
    await Promise.race(sent)
    await nextTurn()
    expect(node.apps.waiting).toBe(0)
    const codes = (await Promise.all(sent)).map(error => (error as { code: string }).code)
    expect(codes.toSorted()).toEqual(['57014', ...Array.from({ length: 29 }, () => 'overloaded')])
  })
  await send(node.apps, held)
})

test('what came together with a command that fails is done by the actor that takes over', async () => {
  await using database = await openRooms(2)
  const app = database.rooms[0]!
  await using node = await openActors(database.url)
  const heard: string[] = []
  node.apps.onCommit(({ events }) => heard.push(...events.map(({ type }) => type)))
  await node.apps.pin(app)

  const failing = node.apps.run(bug, app, system, undefined)
  const sending = Array.from({ length: 30 }, () => send(node.apps, app))

  await expect(failing).rejects.toMatchObject({ code: '23502' })
  await Promise.all(sending)
  expect((await node.apps.state(app)).app.item_count).toBe(30)
  await node.apps.remoteCommits.poll()
  expect(heard).toEqual(sending.map(() => 'message_created'))
})

test('who was told that an app is gone no longer counts as waiting, also where others of the flush fail', async () => {
  await using database = await openRooms(2)
  const [gone, app] = database.rooms as [number, number]
  await using node = await openActors(database.url)
  await node.apps.state(gone)
  await node.apps.state(app)
  await database.sql`delete from apps where id = ${gone}`

  const outcomes = await Promise.allSettled([send(node.apps, gone), node.apps.run(bug, app, system, undefined)])

  expect(outcomes).toMatchObject([{ reason: { status: 404 } }, { reason: { code: '23502' } }])
  // What is to be done for it once more has come to its end as well.
  await expect(Promise.resolve(node.apps.state(gone))).rejects.toMatchObject({ status: 404 })
  await nextTurn()
  expect(node.apps.waiting).toBe(0)
})

test('a command whose app has to be loaded anew is done once, also where others of the flush fail', async () => {
  await using database = await openRooms(2)
  const [rewritten, app] = database.rooms as [number, number]
  await using node = await openActors(database.url)
  for (const room of database.rooms) await node.apps.state(room)
  await database.sql`update apps set head_rev = head_rev + 1 where id = ${rewritten}`
  const done: number[] = []
  const load = async () => {}
  const counted = loadingCommand('counted', load, work => void done.push(work.app.id))
  const failing = loadingCommand('failing', load, work => bug.decide(work as never, undefined))

  const outcomes = await Promise.allSettled([
    node.apps.run(counted, rewritten, system, undefined),
    node.apps.run(failing, app, system, undefined),
  ])
  await node.apps.idle()

  expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { reason: { code: '23502' } }])
  expect(done).toEqual([rewritten])
})

test('what fails when it is tried again leaves nothing behind for the next command', async () => {
  await using database = await openRooms(2)
  const { sql, rooms } = database
  const [app, elsewhere] = rooms as [number, number]
  await using here = await openActors(database.url)
  await using there = await openActors(database.url)
  const idempotencyKey = { key: Buffer.alloc(32, 1), request: Buffer.alloc(32, 2) }
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const load = async () => {
    begun.resolve()
    await gate.promise
  }
  const slow = loadingCommand('slow', load, work => ({ id: work.app.id }))

  const failing = here.apps.run(slow, app, system, null, idempotencyKey)
  failing.catch(() => {})
  await begun.promise
  // Somebody else uses the key, and has the app as soon as the first attempt lets go of it.
  await send(there.apps, elsewhere, { idempotencyKey: idempotencyKey })
  await sql.begin(async tx => {
    const [own] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
    // A lock of the table: those who wait for it take turns, where a row goes to whoever is first once it is free.
    const locked = tx`lock table apps in exclusive mode`.execute()
    const waiting = () => sql<{ pid: number }[]>`
      select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await eventually(async () => expect(await waiting()).toContainEqual(own))
    gate.resolve()
    await locked
    // As PostgreSQL does with a statement that takes longer than it may.
    const blocked = await eventually(async () => {
      const found = await sql<{ pid: number }[]>`
        select pid from pg_stat_activity where ${own!.pid} = any(pg_blocking_pids(pid))`
      expect(found).not.toHaveLength(0)
      return found
    })
    for (const { pid } of blocked) await sql`select pg_cancel_backend(${pid})`
    await expect(failing).rejects.toMatchObject({ code: '57014' })
  })

  expect(await here.apps.run(slow, app, system, null)).toEqual({ id: app })
})

test('an app that cannot be brought up to date keeps no other from it, and is loaded anew', async () => {
  await using database = await openRooms(2)
  const { sql, rooms } = database
  const [broken, other] = rooms as [number, number]
  await using here = await openActors(database.url)
  await using there = await openActors(database.url)
  for (const room of rooms) await here.apps.state(room)
  await send(there.apps, broken)
  await sql`
    with rotten as (
      insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, facts, created_at)
      select id, nextval('numbers'), head_rev, 'message_deleted', 0, 'message', 1, null, now()
      from apps where id = ${broken} returning rev)
    update apps set head_rev = (select rev from rotten) where id = ${broken}`
  await send(there.apps, other)

  await expect(here.apps.remoteCommits.catchUp(rooms)).rejects.toThrow(TypeError)

  for (const room of rooms) expect((await here.apps.state(room)).app.item_count).toBe(1)
  await here.apps.remoteCommits.catchUp(rooms)
})
