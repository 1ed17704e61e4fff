import { expect, test } from 'vitest'
import { anyHistory, beginEpoch, findEpoch } from '../../src/log/epoch.ts'
import { openConnection, openSql, type Admission } from '../../src/postgres/sql.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

/** Ends every connection to the database but the one that asks for it. */
const cut = ({ sql }: Database) => sql`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

/** Stands for a database that was put where another one was. */
const replace = ({ sql }: Database) => sql`update environment set epoch_origin = 'elsewhere'`

test('every connection is judged before anything else is asked on it, also one that the driver makes by itself', async () => {
  await using database = await createDatabase()
  let judged = 0
  let refusal: Error | null = null
  const admission: Admission = () => ({
    text: 'select pg_backend_pid() as pid',
    judge(row: { pid: number } | undefined, error?: unknown) {
      judged++
      return row === undefined ? (error as Error) : refusal
    },
  })
  const options = { url: database.url, admission, statementTimeoutMs: 5_000 }
  const [one, pool] = [openConnection(options), openSql({ ...options, connections: 2 })]
  const write = () => [one`insert into tests values (1)`, pool`insert into tests values (2)`]
  await database.sql`create table tests (value int)`

  await Promise.all(write())
  expect(judged).toBe(2)
  await cut(database)
  await eventually(() => Promise.all(write()))
  expect(judged).toBeGreaterThanOrEqual(4)

  refusal = new Error('not this one')
  await cut(database)
  const [before] = await database.sql`select count(*) from tests`
  await eventually(async () => {
    for (const result of await Promise.allSettled(write())) expect(result).toMatchObject({ reason: refusal })
  })
  // Nothing of a pipeline, of a transaction or of a reserved connection is run either.
  const pipeline = Array.from({ length: 5 }, () => one`insert into tests values (3)`)
  for (const { status } of await Promise.allSettled(pipeline)) expect(status).toBe('rejected')
  await expect(pool.begin(tx => tx`insert into tests values (4)`)).rejects.toThrow('not this one')
  await expect(pool.reserve()).rejects.toThrow('not this one')
  expect(await database.sql`select count(*) from tests`).toEqual([before])

  refusal = null
  await Promise.all(write())
  await Promise.all([one.end(), pool.end()])
})

test('an epoch lasts until the database is another one, and ends before anything is asked of that', async () => {
  await using database = await createDatabase()
  const first = await findEpoch(database.sql)
  expect(await findEpoch(database.sql)).toMatchObject({ id: first.id, start: 0 })
  const sql = openSql({
    url: database.url,
    admission: first.admission,
    connections: 1,
    statementTimeoutMs: 5_000,
  })
  await sql`select 1`
  await cut(database)
  await eventually(() => sql`select 1`)
  expect(first.signal.aborted).toBe(false)

  await replace(database)
  await cut(database)
  await expect(eventually(() => sql`select 'believed'`, { timeoutMs: 200 })).rejects.toThrow()

  expect(first.signal.aborted).toBe(true)
  expect(first.wentBack).toBe(false)
  await sql.end()
})

test('nodes that find another history together begin one epoch, in which no number means what it meant before', async () => {
  await using database = await createDatabase()
  await database.sql`insert into users (display_name, created_at) values ('Ann', now())`
  const first = await findEpoch(database.sql)
  const [{ last }] = await database.sql<[{ last: number }]>`select nextval('numbers') as last`
  await replace(database)

  const found = await Promise.all(Array.from({ length: 4 }, () => findEpoch(database.sql)))

  expect(new Set(found.map(({ id }) => id)).size).toBe(1)
  expect(found[0]!.id).not.toBe(first.id)
  expect(found[0]!.start).toBe(last + 1_000_000_000)
  const [{ number }] = await database.sql<[{ number: number }]>`select nextval('numbers') as number`
  expect(number).toBeGreaterThan(found[0]!.start)
  const [{ id }] = await database.sql<[{ id: number }]>`
    insert into users (display_name, created_at) values ('Ben', now()) returning id`
  expect(id).toBeGreaterThan(1_000_000_000)
})

test('an epoch that another one follows without a broken connection is noticed by looking', async () => {
  await using database = await createDatabase()
  const { sql } = database
  const epoch = await findEpoch(sql)
  // Without how far the log reaches, which grows with what is written to other databases, too.
  const state = async () =>
    Object.values((await sql.unsafe(anyHistory))[0]!)
      .join()
      .split(' ')
      .slice(0, -1)
  await epoch.look(sql)
  const before = await state()
  expect(await state()).toEqual(before)

  await beginEpoch(sql, { hasLost: false })

  expect(await state()).not.toEqual(before)
  await expect(epoch.look(sql)).rejects.toThrow('another history')
  expect(epoch.signal.aborted).toBe(true)
})
