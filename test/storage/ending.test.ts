import { expect, test } from 'vitest'
import { cachedQuery } from '../../src/postgres/cached-query.ts'
import { endWith } from '../../src/postgres/driver/ending.ts'
import { openSql, type Sql } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const gone = new Error('The client went away')

/** A pool of one connection, and a connection beside it. */
async function openPool() {
  const database = await createDatabase()
  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 60_000, applicationName: 'ended' })
  return {
    sql,
    /** What the pool's connections do in PostgreSQL. */
    active: async () => {
      const rows = await database.sql<{ query: string }[]>`
        select query from pg_stat_activity where application_name = 'ended' and state <> 'idle'`
      return rows.map(({ query }) => query)
    },
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 })
      await database[Symbol.asyncDispose]()
    },
  }
}

const sleep = (sql: Sql) => sql`select pg_sleep(60)`.then(() => 'slept')

test('a running query is cancelled in PostgreSQL, and its connection runs the next one', async () => {
  await using pool = await openPool()
  await pool.sql`select 1`
  const request = new AbortController()
  const slept = sleep(endWith(pool.sql, request.signal))
  const ended = expect(slept).rejects.toBe(gone)
  await eventually(async () => expect(await pool.active()).toHaveLength(1))

  request.abort(gone)

  await ended
  expect(await pool.active()).toEqual([])
  for (let i = 0; i < 20; i++) expect(await pool.sql`select ${i}::int as i`).toEqual([{ i }])
})

test('a query that has yet to be sent is cancelled too, while its connection opens', async () => {
  await using pool = await openPool()
  const request = new AbortController()
  const ended = expect(sleep(endWith(pool.sql, request.signal))).rejects.toBe(gone)
  await Promise.resolve()

  request.abort(gone)

  await ended
  expect(await pool.sql`select 1 as one`).toEqual([{ one: 1 }])
})

test('a query that waits for a connection is dropped, and the queries of others go on', async () => {
  await using pool = await openPool()
  const [first, second] = [new AbortController(), new AbortController()]
  const blocking = sleep(endWith(pool.sql, first.signal))
  const blockingEnded = expect(blocking).rejects.toBe(gone)
  await eventually(async () => expect(await pool.active()).toHaveLength(1))
  const waiting = sleep(endWith(pool.sql, second.signal))
  const other = pool.sql`select 1 as one`.then(rows => rows)

  second.abort(gone)
  await expect(waiting).rejects.toBe(gone)
  first.abort(gone)

  await blockingEnded
  expect(await other).toEqual([{ one: 1 }])
  await expect(sleep(endWith(pool.sql, first.signal))).rejects.toBe(gone)
})

test('a transaction that is cancelled is rolled back', async () => {
  await using pool = await openPool()
  await pool.sql`create table things (id int)`
  const request = new AbortController()
  const run = endWith(pool.sql, request.signal).begin(async tx => {
    await tx`insert into things values (1)`
    await tx`select pg_sleep(60)`
  })
  const ended = expect(run).rejects.toBe(gone)
  await eventually(async () => expect((await pool.active()).join('')).toContain('pg_sleep'))

  request.abort(gone)

  await ended
  expect(await pool.sql`select * from things`).toEqual([])
})

test('a query whose answer others share does not end with the one who asked first', async () => {
  await using pool = await openPool()
  const ask = cachedQuery(60_000, (sql: Sql, seconds: number) => sql`select pg_sleep(${seconds}), 1 as one`)
  const [first, second] = [new AbortController(), new AbortController()]
  const asked = [ask(endWith(pool.sql, first.signal), 0.2), ask(endWith(pool.sql, second.signal), 0.2)]
  first.abort(gone)

  expect((await asked[1]!)[0]).toMatchObject({ one: 1 })
})
