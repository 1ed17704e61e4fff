import { expect, test, vi } from 'vitest'
import { statementLimit } from '../../src/postgres/driver/pool.ts'
import { openSql, type Sql } from '../../src/postgres/sql.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

test('a query waits for the first connection that gets free, not behind a slow one', async () => {
  await using database = await createDatabase()
  await using locks = await hold(database, 2)
  await using pool = open(database, 2)
  const wait = (lock: number) => pool.sql`select pg_advisory_xact_lock(${lock})`.execute()
  // Asked for the first time, a statement is described before it is run.
  await Promise.all([wait(3), wait(4)])
  const [slow, slower] = [wait(1), wait(2)]
  await locks.areAwaited(2)

  const quick = [1, 2, 3].map(number => pool.sql`select ${number}::int as number`.execute())
  await locks.release(2)

  expect(await Promise.all(quick)).toEqual([[{ number: 1 }], [{ number: 2 }], [{ number: 3 }]])
  await slower
  await locks.release(1)
  await slow
})

test('a transaction has its connection alone, from the first statement to the last', async () => {
  await using database = await createDatabase()
  await using pool = open(database, 2)
  const askPid = async (sql: Pick<Sql, 'unsafe'>) => (await sql.unsafe('select pg_backend_pid() as pid'))[0]!.pid

  const pids = await pool.sql.begin(async tx => {
    const inside = [await askPid(tx)]
    const outside = await Promise.all(Array.from({ length: 20 }, () => askPid(pool.sql)))
    return { inside: [...inside, await askPid(tx)], outside }
  })

  expect(new Set(pids.inside).size).toBe(1)
  expect(new Set(pids.outside).size).toBe(1)
  expect(pids.outside).not.toContain(pids.inside[0])
})

test('whatever fails gives its connection back', async () => {
  await using database = await createDatabase()
  await using pool = open(database, 2)
  const failing = () => [
    pool.sql`select 1 / 0`,
    pool.sql.begin(tx => tx`select 1 / 0`),
    pool.sql.begin(() => Promise.reject(new Error('no'))),
    pool.sql.unsafe('nonsense'),
  ]

  for (let round = 0; round < 3; round++) {
    for (const { status } of await Promise.allSettled(failing())) expect(status).toBe('rejected')
  }

  const transactions = [1, 2].map(number => pool.sql.begin(tx => tx`select ${number}::int as number`))
  expect(await Promise.all(transactions)).toEqual([[{ number: 1 }], [{ number: 2 }]])
})

test('of a query that failed behind its first rows, nothing is left for the next one', async () => {
  await using database = await createDatabase()
  await using pool = open(database, 1)

  await expect(pool.sql`select 1 / (number - 3) from generate_series(1, 5) as number`).rejects.toThrow('division')

  expect(await pool.sql`select 1 as number`).toEqual([{ number: 1 }])
})

test('when a pool ends, all that waits for a connection is refused', async () => {
  await using database = await createDatabase()
  await using locks = await hold(database, 2)
  const { sql } = open(database, 2)
  const held = [1, 2].map(lock => sql`select pg_advisory_lock(${lock})`.execute())
  await locks.areAwaited(2)
  const waiting = [sql`select 1`.execute(), sql.begin(tx => tx`select 1`), sql.unsafe('select 1').execute()]
  const outcomes = Promise.allSettled([...held, ...waiting])

  await sql.end({ timeout: 0 })

  expect((await outcomes).map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'rejected'))
})

test('a query is not looked for among all that came before it', async () => {
  await using database = await createDatabase()
  await using pool = open(database, 4)
  await Promise.all([1, 2, 3, 4, 5].map(() => pool.sql`select 1`))
  const search = vi.spyOn(Array.prototype, 'indexOf')

  const ask = async () => {
    for (let i = 0; i < 500; i++) await pool.sql`select 1`
  }
  await Promise.all([ask(), ask()])
  const lengths = search.mock.contexts.map(list => (list as unknown[]).length)
  search.mockRestore()

  expect(lengths.length).toBeGreaterThan(1000)
  expect(lengths.reduce((longest, length) => Math.max(longest, length))).toBeLessThan(50)
})

test('however many statements there are, PostgreSQL keeps no more than a connection may have', async () => {
  await using database = await createDatabase()
  await using pool = open(database, 2)
  const counts: number[] = []

  for (let number = 0; number < statementLimit * 2.5; number++) {
    // On both connections, some of which are being replaced.
    const texts = [number, -number].map(
      other => `select count(*) as count, ${other} from pg_prepared_statements where $1`,
    )
    const rows = await Promise.all(
      texts.map(text => pool.sql.unsafe<{ count: number }[]>(text, [true], { prepare: true })),
    )
    counts.push(...rows.map(([row]) => row!.count))
  }

  expect(Math.max(...counts)).toBeGreaterThan(statementLimit / 2)
  expect(Math.max(...counts)).toBeLessThanOrEqual(statementLimit)
  const connections = () => database.sql`
    select from pg_stat_activity where application_name = 'pool' and datname = current_database()`
  await eventually(async () => expect(await connections()).toHaveLength(2))
})

function open({ url }: Database, connections: number): AsyncDisposable & { sql: Sql } {
  const sql = openSql({ url, connections, statementTimeoutMs: 30_000, applicationName: 'pool' })
  return { sql, [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }) }
}

interface Locks extends AsyncDisposable {
  /** Resolves when so many statements of the pool wait for one. */
  areAwaited(count: number): Promise<void>
  release(lock: number): Promise<void>
}

/** Holds the advisory locks 1 to `count`: statements that ask for them take as long as a test wants. */
async function hold({ sql }: Database, count: number): Promise<Locks> {
  const holder = await sql.reserve()
  for (let lock = 1; lock <= count; lock++) await holder`select pg_advisory_lock(${lock})`
  return {
    async areAwaited(count) {
      await eventually(async () => {
        const waits = await sql`
          select from pg_stat_activity where application_name = 'pool' and wait_event = 'advisory'
            and datname = current_database()`
        expect(waits).toHaveLength(count)
      })
    },
    async release(lock) {
      await holder`select pg_advisory_unlock(${lock})`
    },
    async [Symbol.asyncDispose]() {
      await holder`select pg_advisory_unlock_all()`
      holder.release()
    },
  }
}
