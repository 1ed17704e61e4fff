import { expect, test } from 'vitest'
import { CommitConnection, OutcomeUnknown } from '../../src/engine/commit/connection.ts'
import { firstOffset, usableMs } from '../../src/log/id-pool.ts'
import type { Expected, Moved } from '../../src/engine/commit/flush/fence.ts'
import { blockSize } from '../../src/engine/state.ts'
import { appendEvents, appendHeads, saveHeads, type AppendedEvent } from '../../src/engine/store.ts'
import { batch, WriteStatement } from '../../src/postgres/batch.ts'
import { statementLimit } from '../../src/postgres/driver/pool.ts'
import { openConnection } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'
import { openRooms } from '../support/rooms.ts'

test('PostgreSQL commits with numbers that were drawn just now, and not with older ones', async () => {
  await using database = await createDatabase()
  const connection = connect(database.url)
  const [present] = await database.sql<{ ms: number; head_rev: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms, head_rev from environment`
  const commit = (drawnAtMs: number) =>
    connection.commitExact(new WriteStatement(), {
      moved: [],
      unmoved: [],
      keys: [],
      sharedRev: present!.head_rev,
      drawnAtMs,
      count: 2,
    })

  expect(await commit(present!.ms)).toBe(true)
  expect(await commit(present!.ms - usableMs)).toBe(false)
  expect(connection.collisions).toBe(1)
  await connection.close()
})

test('where one app has moved, an exact commit writes nothing', async () => {
  await using database = await openRooms(2)
  const { sql, rooms } = database
  await sql`update apps set head_rev = 7 where id = ${rooms[0]!}`
  const connection = connect(database.url)

  const isCommitted = await connection.commitExact(touchAll(rooms), await expectedOf(connection, rooms.map(toMoved)))

  expect(isCommitted).toBe(false)
  expect(await sql`select from apps where name is not null`).toHaveLength(0)
  await connection.close()
})

test('an appending commit writes each app that its decisions still hold for, and says where', async () => {
  await using database = await openRooms(8)
  const { sql, rooms } = database
  const [still, ahead, guarded, bound, later, started, full, gone] = rooms as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number, // prettier-ignore
  ]
  await sql`update apps set head_rev = 7, made_count = 5, last_id = 6 where id <> ${still}`
  await sql`update apps set guard_rev = 7 where id = ${guarded}`
  await sql`update apps set head_at = '2100-01-01' where id = ${later}`
  await sql`update apps set made_count = ${blockSize} where id = ${started}`
  await sql`update apps set made_count = ${blockSize - 1} where id = ${full}`
  await sql`delete from apps where id = ${gone}`
  const connection = connect(database.url)
  const moved = rooms.map(id => ({
    ...toMoved(id),
    guard_rev: id === bound ? null : 0,
    made: id === full ? 2 : 1,
  }))

  const appended = await connection.commitAppending(
    touchAll(rooms, { isPartial: true }),
    { ...(await expectedOf(connection, moved)), unmoved: [{ id: still, head_rev: 1 }, { id: ahead, head_rev: 1 }] }, // prettier-ignore
    new Date(),
  )

  expect(appended).toMatchObject({ holds: true, still: new Set([still]) })
  const number_shift = expect.any(Number)
  expect([...appended!.held.values()]).toEqual([
    { id: still, head_rev: 1, number_shift, held_at: null },
    { id: ahead, head_rev: 7, number_shift, held_at: null },
    { id: later, head_rev: 7, number_shift, held_at: Date.UTC(2100) },
  ])
  const shifts = [...appended!.held.values()].map(place => firstOffset + place.number_shift)
  expect(Math.min(...shifts)).toBeGreaterThan(7)
  expect(new Set(shifts).size).toBe(3)
  const written = await sql<{ id: number }[]>`select id from apps where name is not null order by id`
  expect(written.map(({ id }) => id)).toEqual([still, ahead, later])
  await connection.close()
})

test('an appending commit waits for no app that another node has locked, and fails for none', async () => {
  await using database = await openRooms(2)
  const { sql, rooms } = database
  const [locked, free] = rooms as [number, number]
  const connection = connect(database.url, { statementTimeoutMs: 2_000 })
  const expected = await expectedOf(connection, rooms.map(toMoved))

  await sql.begin(async tx => {
    await tx`select from apps where id = ${locked} for update`
    const appended = await connection.commitAppending(touchAll(rooms, { isPartial: true }), expected, new Date())
    expect(appended).toMatchObject({ holds: true, held: new Map([[free, { head_rev: 1 }]]) })
  })
  await connection.close()
})

test('two nodes that append to an app at one time add to it one after the other', async () => {
  await using database = await openRooms(1)
  const { sql, rooms } = database
  const [room] = rooms as [number]
  const nodes = [connect(database.url), connect(database.url)]
  let author = 0
  const append = async (connection: CommitConnection) => {
    const rev = firstOffset
    const statement = new WriteStatement({ isPartial: true })
    const event = { app_id: room, rev, prev: null, type: 'noted', actor_id: 0, entity_type: 'app', entity_id: room, facts: null, created_at: new Date() } // prettier-ignore
    statement.add(appendHeads, [{ id: room, rev, head_rev: rev, head_at: new Date(0), items: 1, trashed: 0, made: 1, last_id: rev, last_by: ++author, prior_id: null }]) // prettier-ignore
    statement.add(appendEvents, [event as AppendedEvent])
    const moved = [{ ...toMoved(room), last: rev, made: 1 }]
    return connection.commitAppending(statement, await expectedOf(connection, moved), new Date())
  }
  await sql`update apps set made_count = 1 where id = ${room}`
  const revs: number[] = []
  // Each pair at one time: one that meets the lock of the other is left out.
  for (let pair = 0; pair < 20; pair++) {
    const appended = await Promise.all(nodes.map(append))
    for (const { held } of appended.map(one => one!))
      for (const { number_shift } of held.values()) revs.push(firstOffset + number_shift)
  }

  const events = await sql<{ rev: number; prev: number }[]>`
    select rev, prev from events where app_id = ${room} and type = 'noted' order by rev`
  expect(events.map(({ rev }) => rev)).toEqual(revs.toSorted((a, b) => a - b))
  expect(events.map(({ prev }) => prev)).toEqual([1, ...events.slice(0, -1).map(({ rev }) => rev)])
  const [kept] = await sql`select head_rev, item_count::int, last_id, prior_id from apps where id = ${room}`
  const [prior, last] = events.slice(-2).map(({ rev }) => rev)
  expect(kept).toEqual({ head_rev: last, item_count: events.length, last_id: last, prior_id: prior })
  for (const node of nodes) await node.close()
})

test('an appending commit says which idempotency keys are stored, and writes nothing', async () => {
  await using database = await openRooms(1)
  const { sql, rooms } = database
  const [taken, free] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  await sql`insert into idempotency (key, request, result, created_at) values (${taken}, ${taken}, '1', now())`
  const connection = connect(database.url)
  const expected = { ...(await expectedOf(connection, rooms.map(toMoved))), keys: [taken, free] }

  const appended = await connection.commitAppending(touchAll(rooms, { isPartial: true }), expected, new Date())

  expect(appended).toMatchObject({ holds: false, keys: new Set([taken.toString('hex')]) })
  expect(await sql`select from apps where name is not null`).toHaveLength(0)
  await connection.close()
})

test('no number is drawn twice, by whomever and however many at a time', async () => {
  await using database = await createDatabase()
  const connections = [connect(database.url), connect(database.url)]
  const drawn: number[] = []
  for (const count of [1, 2, 64, 65, 300]) {
    for (const connection of connections) {
      const locked = await connection.begin({ apps: [], keys: [], count, ahead: count })
      await connection.commit(new WriteStatement(), locked, 0)
      const [single] = await database.sql<{ number: number }[]>`select nextval('numbers')::int as number`
      expect(locked.ids).toHaveLength(count)
      drawn.push(...locked.ids, ...connection.ids.take(count, 0)!.ids, single!.number)
    }
  }

  expect(drawn).toEqual([...new Set(drawn)].sort((a, b) => a - b))
  for (const connection of connections) await connection.close()
})

test('numbers that PostgreSQL could give out again after a crash are not kept for the next commit', async () => {
  await using database = await createDatabase()
  const connection = connect(database.url)
  const [present] = await database.sql<{ ms: number; head_rev: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms, head_rev from environment`
  const begin = () => connection.begin({ apps: [], keys: [], count: 1, ahead: 10 })
  const kept: Record<string, unknown> = {}

  await begin()
  await connection.rollback()
  kept['rolled back'] = connection.ids.take(1, 0)
  await begin()
  connection.reset()
  kept['thrown away'] = connection.ids.take(1, 0)
  await expect(connection.commit(new WriteStatement(), await begin(), 1)).rejects.toThrow()
  kept['refused'] = connection.ids.take(1, 0)
  await connection.commitExact(new WriteStatement(), {
    moved: [],
    unmoved: [],
    keys: [],
    sharedRev: present!.head_rev,
    drawnAtMs: present!.ms,
    count: 1,
  })
  kept['wrote nothing'] = connection.ids.take(1, 0)

  expect(Object.entries(kept).filter(([, numbers]) => numbers !== null)).toEqual([])
  await connection.close()
})

test('a commit whose transaction was lost is refused as one to try again', async () => {
  await using database = await createDatabase()
  const connection = connect(database.url)
  const locked = await connection.begin({ apps: [], keys: [], count: 1, ahead: 0 })
  await connection.rollback()

  await expect(connection.commit(new WriteStatement(), locked, 0)).rejects.toMatchObject({ status: 503 })
  await connection.close()
})

test('what PostgreSQL refuses at the very end of a commit is not taken for written', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await sql`create table kept (app bigint)`
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
    create constraint trigger refuse after insert on kept
      deferrable initially deferred for each row execute function refuse()`)
  const connection = connect(database.url)
  const locked = await connection.begin({ apps: [], keys: [], count: 1, ahead: 0 })
  const keep = batch<{ app: number }>({
    name: 'keep',
    columns: { app: 'bigint' },
    sql: rows => `insert into kept select app from ${rows} r`,
  })
  const statement = new WriteStatement()
  statement.add(keep, [{ app: 1 }])

  await expect(connection.commit(statement, locked, 0)).rejects.toBeInstanceOf(OutcomeUnknown)

  expect(await sql`select from kept`).toHaveLength(0)
  await connection.close()
})

test('however many statements there are, PostgreSQL keeps no more than a connection may have', async () => {
  await using database = await createDatabase()
  const connection = connect(database.url)
  const [present] = await database.sql<{ head_rev: number }[]>`select head_rev from environment`
  const counts: number[] = []

  for (let number = 0; number < statementLimit * 2.5; number++) {
    const statement = new WriteStatement()
    statement.add(
      batch<{ app: number }>({
        name: `kind_${number}`,
        columns: { app: 'bigint' },
        sql: rows => `select app from ${rows} r`,
      }),
      [{ app: 1 }],
    )
    const locked = await connection.begin({ apps: [], keys: [], count: 0, ahead: 1 })
    if (number % 2 === 0) await connection.commit(statement, locked, 0)
    else {
      await connection.rollback()
      const drawnAtMs = locked.ahead.atMs
      const known = { moved: [], unmoved: [], keys: [], sharedRev: present!.head_rev, drawnAtMs, count: 1 }
      expect(await connection.commitExact(statement, known)).toBe(true)
    }
    const [kept] = await connection.db<{ count: number }[]>`
      select count(*) as count from pg_prepared_statements where statement like 'with %kind_%'`
    counts.push(kept!.count)
  }

  expect(Math.max(...counts)).toBe(statementLimit)
  await connection.close()
})

test('a commit has its place among the transactions before it looks at the age of its ids', async () => {
  await using database = await openRooms(1)
  const { sql, rooms } = database
  const room = rooms[0]!
  await sql.unsafe(`
    create function refuse_without_place() returns trigger language plpgsql as $$
    begin
      if pg_current_xact_id_if_assigned() is null then raise 'the age was looked at before'; end if;
      return null;
    end $$;
    create trigger refuse_without_place before update on apps
      for each statement execute function refuse_without_place()`)
  const connection = connect(database.url)
  const statement = new WriteStatement()
  const move = batch({
    name: saveHeads.name,
    columns: { id: 'bigint', known_rev: 'bigint' },
    sql: rows => `update apps a set head_rev = 7 from ${rows} r where a.id = r.id returning a.id`,
  })
  statement.add(move, [{ id: room, known_rev: 1 }])

  expect(await connection.commitExact(statement, await expectedOf(connection, [toMoved(room)]))).toBe(true)

  expect(await sql`select from apps where head_rev = 7`).toHaveLength(1)
  await connection.close()
})

function connect(url: string, { statementTimeoutMs = 10_000 } = {}): CommitConnection {
  const open = () => openConnection({ url, statementTimeoutMs })
  return new CommitConnection({ open, deadlineMs: 10_000 })
}

/** An app as `openRooms` makes it, to which one item is added. */
const toMoved = (id: number): Moved => ({
  id,
  head_rev: 1,
  guard_rev: 0,
  first: firstOffset,
  last: firstOffset + 1,
  made: 0,
})

/** What a commit expects that is decided now. */
async function expectedOf(connection: CommitConnection, moved: Moved[]): Promise<Expected> {
  const { sharedRev, ahead } = await connection.begin({ apps: [], keys: [], count: 0, ahead: 1 })
  await connection.rollback()
  return { moved, unmoved: [], keys: [], sharedRev, drawnAtMs: ahead.atMs, count: 1 }
}

/** A statement that gives apps a name. */
function touchAll(apps: readonly number[], options = {}): WriteStatement {
  const statement = new WriteStatement(options)
  const touch = batch<{ id: number; known_rev: number }>({
    name: saveHeads.name,
    columns: { id: 'bigint', known_rev: 'bigint' },
    app: 'id',
    sql: list => `update apps a set name = 'x' from ${list} r where a.id = r.id returning a.id`,
  })
  statement.add(
    touch,
    apps.map(id => ({ id, known_rev: 1 })),
    apps,
  )
  return statement
}
