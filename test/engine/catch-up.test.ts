import { describe, expect, test } from 'vitest'
import { applyMissed, readMissed } from '../../src/engine/catch-up.ts'
import { recentLimit } from '../../src/engine/recent.ts'
import { SharedLog } from '../../src/log/shared-log.ts'
import { eventTypes } from '../../src/resources/index.ts'
import { putMembers, removeMembers } from '../../src/resources/apps/members/commands.ts'
import type { AppState } from '../../src/engine/state.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { openActors } from '../support/actors.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase } from '../support/database.ts'
import { openRooms, send, system } from '../support/rooms.ts'

const every = { types: eventTypes, isFollowed: () => true }

test('a catch-up that fails changes nothing, so that nobody misses what it has read', async () => {
  await using database = await openRooms(1)
  const { sql } = database
  const room = database.rooms[0]!
  await using here = await openActors(database.url)
  await using there = await openActors(database.url)
  const state = await here.apps.state(room)
  for (let i = 0; i < 3; i++) await send(there.apps, room)

  let queries = 0
  for (let at = 1; ; at++) {
    queries = 0
    const broken = breaking(sql, () => ++queries === at)
    const found = await readMissed(broken, [state], every).catch(() => 'failed' as const)
    if (found !== 'failed') {
      const missed = found.get(room)!
      expect(missed.events).toHaveLength(3)
      applyMissed(state, missed)
      break
    }
    expect([state.app.head_rev, state.app.item_count, state.recent.items]).toEqual([1, 0, []])
  }

  expect(queries).toBeGreaterThan(2)
  expect(state.app).toEqual((await there.apps.state(room)).app)
})

test.each([
  ['all', 0],
  ['the beginning', 2],
])('where %s of the history that was missed is gone, the app is loaded anew', async (_what, kept) => {
  await using database = await openRooms(1)
  const { sql } = database
  const room = database.rooms[0]!
  const [ann] = await sql<{ id: number }[]>`
    insert into users (uid, display_name, created_at) values ('ann', 'Ann', now()) returning id`
  await using here = await openActors(database.url)
  await using there = await openActors(database.url)
  await there.apps.run(putMembers, room, system, [{ user: ann!.id, access: 'write' }])
  expect((await here.apps.state(room)).member(ann!.id)?.access).toBe('write')

  await there.apps.run(removeMembers, room, system, [ann!.id])
  for (let i = 0; i < 3; i++) await send(there.apps, room)
  await sql`
    delete from events where app_id = ${room}
      and rev not in (select rev from events where app_id = ${room} order by rev desc limit ${kept}::int)`
  await here.apps.remoteCommits.poll()

  const state = await here.apps.state(room)
  expect(state.member(ann!.id)).toBeUndefined()
  expect(state.recent.items).toHaveLength(3)
  expect(state.app).toEqual((await there.apps.state(room)).app)
})

test('any number of apps is caught up with in as many queries as one', async () => {
  await using database = await openRooms(30)
  const { sql, rooms } = database
  await using there = await openActors(database.url)
  await using here = await openActors(database.url)
  const [ann] = await sql<{ id: number }[]>`
    insert into users (uid, display_name, created_at) values ('ann', 'Ann', now()) returning id`
  const states = await Promise.all(rooms.map(room => here.apps.state(room)))
  for (const room of rooms) {
    await there.apps.run(putMembers, room, system, [{ user: ann!.id, access: 'write' }])
    await send(there.apps, room, { text: `hello ${room}` })
  }
  const countFor = async (some: AppState[]) => {
    let queries = 0
    const found = await readMissed(
      breaking(sql, () => ++queries < 0),
      some,
      every,
    )
    for (const state of some) applyMissed(state, found.get(state.app.id)!)
    return queries
  }

  const one = await countFor(states.slice(0, 1))
  expect(await countFor(states.slice(1))).toBe(one)

  for (const state of states) {
    expect(state.app).toEqual((await there.apps.state(state.app.id)).app)
    expect(state.member(ann!.id)).toMatchObject({ app_id: state.app.id, access: 'write' })
    expect(state.recent.items).toMatchObject([{ text: expect.stringContaining(`hello ${state.app.id}`) }])
  }
})

describe('of an app of which more was missed than loading it takes', () => {
  const most = recentLimit

  test.each([
    ['as much', 'caught up with', most],
    ['more', 'loaded anew', most + 1],
  ])('where %s was missed and nobody follows, it is %s', async (_what, outcome, count) => {
    await using setting = await miss(count)
    const { here, there, room, before } = setting

    await here.apps.remoteCommits.catchUp([room])

    expect(here.apps.peek(room) === before ? 'caught up with' : 'loaded anew').toBe(outcome)
    const state = await here.apps.state(room)
    expect(state.app).toEqual((await there.apps.state(room)).app)
    expect(state.recent.items.slice(-most)).toEqual((await there.apps.state(room)).recent.items.slice(-most))
  })

  test('its next command is decided on all of it', async () => {
    await using setting = await miss(most + 1)
    const { here, there, room, before } = setting

    await send(here.apps, room, { text: 'after' })

    const state = await here.apps.state(room)
    expect(state).not.toBe(before)
    expect(state.app.item_count).toBe(most + 2)
    expect((await there.apps.remoteCommits.confirm(room)).app).toEqual(state.app)
  })

  test('those who follow it hear each of its events', async () => {
    await using setting = await miss(most + 1)
    const { here, room, before } = setting
    let heard = 0
    here.apps.onCommit(({ events }) => (heard += events.length))
    await here.apps.pin(room)

    await here.apps.remoteCommits.catchUp([room])

    expect(heard).toBe(most + 1)
    expect(here.apps.peek(room)).toBe(before)
  })

  /** A room in memory here, to which so many messages were sent elsewhere since. */
  async function miss(count: number) {
    const database = await openRooms(1)
    const room = database.rooms[0]!
    const here = await openActors(database.url)
    const there = await openActors(database.url)
    const before = await here.apps.state(room)
    for (let i = 0; i < count; i++) await send(there.apps, room)
    const close = async () => {
      for (const part of [here, there, database]) await part[Symbol.asyncDispose]()
    }
    return { here, there, room, before, [Symbol.asyncDispose]: close }
  }
})

/** The same database by a connection that breaks. */
function breaking(sql: Sql, isBroken: () => boolean): Sql {
  const broken = Promise.reject(new Error('The connection broke'))
  // Nobody waits for a part of a query.
  broken.catch(() => {})
  return new Proxy(sql, {
    apply: (target, self, args) => (isBroken() ? broken : Reflect.apply(target, self, args)),
  })
}

test('a rev that the database does not have is waited for by nobody', async () => {
  await using database = await createDatabase()
  const sharedLog = new SharedLog(database.sql)
  await sharedLog.start()
  const heard: string[] = []
  sharedLog.listen(({ type }) => void heard.push(type))

  await sharedLog.catchUpTo(sharedLog.rev + 100)
  expect(heard).toEqual([])

  await database.sql`update environment set head_rev = head_rev + 50`
  const { rev } = sharedLog
  await sharedLog.catchUpTo(rev + 100)
  expect(heard).toEqual(['everything'])
  expect(sharedLog.rev).toBe(rev + 50)
})

test('what has come into memory while other apps were being loaded is not loaded again', async () => {
  await using database = await openRooms(2)
  const { sql, rooms } = database
  const [crowded, other] = rooms as [number, number]
  await sql`
    insert into members (app_id, user_id, access) select ${crowded}, user_id, 'read' from generate_series(1000, 30000) user_id`
  await using node = await openActors(database.url, { connections: 3 })
  const { apps } = node

  const { pins, look } = await sql.begin(async tx => {
    await tx`lock table members in access exclusive mode`
    const pins = [crowded, other].map(app => apps.pin(app))
    const look = apps.remoteCommits.poll()
    await eventually(async () => {
      const [found] = await sql`
        select count(*) filter (where wait_event_type = 'Lock')::int as loading,
          count(*) filter (where state = 'idle' and query like '%select id, head_rev from apps%')::int as looked
        from pg_stat_activity where datname = current_database()`
      expect(found).toEqual({ loading: 2, looked: 1 })
    })
    return { pins, look }
  })
  await Promise.all(pins)
  const state = apps.peek(other)
  await look

  expect(apps.peek(other)).toBe(state)
})
