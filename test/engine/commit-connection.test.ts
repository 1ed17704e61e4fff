import { expect, test } from 'vitest'
import { CommitConnection, OutcomeUnknown, type Conflict } from '../../src/engine/commit/connection.ts'
import { usableMs } from '../../src/log/id-pool.ts'
import { saveHeads } from '../../src/engine/store.ts'
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
    connection.commitOptimistic(new WriteStatement(), {
      moved: [],
      unmoved: [],
      keys: [],
      sharedRev: present!.head_rev,
      drawnAtMs,
      count: 2,
    })

  expect(await commit(present!.ms)).toBeNull()
  expect(await commit(present!.ms - usableMs)).toMatchObject({ apps: new Map(), sharedRev: present!.head_rev })
  expect(connection.collisions).toBe(1)
  await connection.close()
})

test('where an app has moved nothing is written, and it is said which, without an error', async () => {
  await using database = await openRooms(3)
  const { sql, rooms } = database
  const [moved, still, gone] = rooms as [number, number, number]
  await sql`update apps set head_rev = 7 where id = ${moved}`
  await sql`delete from apps where id = ${gone}`
  const connection = connect(database.url)
  const { sharedRev, ahead } = await connection.begin({ apps: [], keys: [], count: 0, ahead: 1 })
  await connection.rollback()
  const [taken, free] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  await sql`insert into idempotency (key, request, result, created_at) values (${taken}, ${taken}, '1', now())`
  const statement = new WriteStatement()
  const touch = batch<{ id: number }>({
    name: 'touch',
    columns: { id: 'bigint' },
    sql: list => `update apps a set name = 'x' from ${list} r where a.id = r.id`,
  })
  statement.add(
    touch,
    rooms.map(id => ({ id })),
  )

  const conflict = await connection.commitOptimistic(statement, {
    moved: rooms.map(id => ({ id, head_rev: 1 })),
    unmoved: [{ id: moved, head_rev: 1 }],
    keys: [taken, free],
    sharedRev,
    drawnAtMs: ahead.atMs,
    count: 1,
  })

  expect(conflict).toEqual({
    apps: new Map([
      [moved, 7],
      [gone, 0],
    ]),
    keys: new Set([taken.toString('hex')]),
    sharedRev,
  })
  expect(await sql`select from apps where name is not null`).toHaveLength(0)
  // The lock of the app that had not moved is let go of.
  expect(await sql`select from apps where id = ${still} for update skip locked`).toHaveLength(1)
  await connection.close()
})

test('where collisions are expected, an app that another node has locked is in the way at once, without an error', async () => {
  await using database = await openRooms(1)
  const { sql, rooms } = database
  const room = rooms[0]!
  const connection = connect(database.url, { statementTimeoutMs: 2_000, expectsCollisions: () => true })
  const move = await prepareMove(connection, room)

  await sql.begin(async tx => {
    await tx`select from apps where id = ${room} for update`
    const conflict = await move()
    expect(conflict?.apps).toEqual(new Map([[room, 1]]))
  })
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
  await connection.commitOptimistic(new WriteStatement(), {
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
      expect(await connection.commitOptimistic(statement, known)).toBeNull()
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
  const move = await prepareMove(connection, room)

  const conflict = await move()

  expect(conflict).toBeNull()
  expect(await sql`select from apps where head_rev = 7`).toHaveLength(1)
  await connection.close()
})

function connect(
  url: string,
  { statementTimeoutMs = 10_000, expectsCollisions = (): boolean => false } = {},
): CommitConnection {
  const open = () => openConnection({ url, statementTimeoutMs })
  return new CommitConnection({ open, deadlineMs: 10_000, expectsCollisions })
}

/** Makes an optimistic commit that moves the head rev of a room from 1 to 7. */
async function prepareMove(connection: CommitConnection, room: number): Promise<() => Promise<Conflict | null>> {
  const { sharedRev, ahead } = await connection.begin({ apps: [], keys: [], count: 0, ahead: 1 })
  await connection.rollback()
  const statement = new WriteStatement()
  const move = batch({
    name: saveHeads.name,
    columns: { id: 'bigint', known_rev: 'bigint' },
    sql: rows => `update apps a set head_rev = 7 from ${rows} r where a.id = r.id returning a.id`,
  })
  statement.add(move, [{ id: room, known_rev: 1 }])
  const moved = [{ id: room, head_rev: 1 }]
  const drawnAtMs = ahead.atMs
  return () => connection.commitOptimistic(statement, { moved, unmoved: [], keys: [], sharedRev, drawnAtMs, count: 1 })
}
