import { expect, test } from 'vitest'
import { Lane, OutcomeUnknown } from '../../src/actors/lane.ts'
import { usableMs } from '../../src/actors/stock.ts'
import { batch, WriteStatement } from '../../src/storage/batch.ts'
import { statementLimit } from '../../src/storage/pool.ts'
import { openConnection } from '../../src/storage/sql.ts'
import { createDatabase } from '../support/database.ts'

test('PostgreSQL commits with numbers that were drawn just now, and not with older ones', async () => {
  await using database = await createDatabase()
  const open = () => openConnection({ url: database.url, statementTimeoutMs: 10_000 })
  const lane = new Lane({ open, deadlineMs: 10_000 })
  const [present] = await database.sql<{ ms: number; environment: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms, head_rev as environment from environment`
  const commit = (drawnAtMs: number) =>
    lane.commitIf(new WriteStatement(), {
      moved: 0,
      still: [],
      environment: present!.environment,
      drawnAtMs,
      count: 2,
    })

  expect(await commit(present!.ms)).toBe(true)
  expect(await commit(present!.ms - usableMs)).toBe(false)
  expect(lane.collisions).toBe(1)
  await lane.close()
})

test('no number is drawn twice, by whomever and however many at a time', async () => {
  await using database = await createDatabase()
  const open = () => openConnection({ url: database.url, statementTimeoutMs: 10_000 })
  const lanes = [new Lane({ open, deadlineMs: 10_000 }), new Lane({ open, deadlineMs: 10_000 })]
  const drawn: number[] = []
  for (const count of [1, 2, 64, 65, 300]) {
    for (const lane of lanes) {
      const locked = await lane.begin([], [], count, count)
      await lane.commit(new WriteStatement(), locked, 0)
      const [single] = await database.sql<{ number: number }[]>`select nextval('numbers')::int as number`
      expect(locked.numbers).toHaveLength(count)
      drawn.push(...locked.numbers, ...lane.stock.take(count, 0)!.numbers, single!.number)
    }
  }

  expect(drawn).toEqual([...new Set(drawn)].sort((a, b) => a - b))
  for (const lane of lanes) await lane.close()
})

test('numbers that PostgreSQL could give out again after a crash are not kept for the next commit', async () => {
  await using database = await createDatabase()
  const open = () => openConnection({ url: database.url, statementTimeoutMs: 10_000 })
  const lane = new Lane({ open, deadlineMs: 10_000 })
  const [present] = await database.sql<{ ms: number; environment: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms, head_rev as environment from environment`
  const begin = () => lane.begin([], [], 1, 10)
  const kept: Record<string, unknown> = {}

  await begin()
  await lane.rollback()
  kept['rolled back'] = lane.stock.take(1, 0)
  await begin()
  lane.reset()
  kept['thrown away'] = lane.stock.take(1, 0)
  await expect(lane.commit(new WriteStatement(), await begin(), 1)).rejects.toThrow()
  kept['refused'] = lane.stock.take(1, 0)
  await lane.commitIf(new WriteStatement(), {
    moved: 0,
    still: [],
    environment: present!.environment,
    drawnAtMs: present!.ms,
    count: 1,
  })
  kept['wrote nothing'] = lane.stock.take(1, 0)

  expect(Object.entries(kept).filter(([, numbers]) => numbers !== null)).toEqual([])
  await lane.close()
})

test('a commit whose transaction was lost is refused as one to try again', async () => {
  await using database = await createDatabase()
  const open = () => openConnection({ url: database.url, statementTimeoutMs: 10_000 })
  const lane = new Lane({ open, deadlineMs: 10_000 })
  const locked = await lane.begin([], [], 1, 0)
  await lane.rollback()

  await expect(lane.commit(new WriteStatement(), locked, 0)).rejects.toMatchObject({ status: 503 })
  await lane.close()
})

test('what PostgreSQL refuses at the very end of a commit is not taken for written', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await sql`create table kept (app bigint)`
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
    create constraint trigger refuse after insert on kept
      deferrable initially deferred for each row execute function refuse()`)
  const open = () => openConnection({ url: database.url, statementTimeoutMs: 10_000 })
  const lane = new Lane({ open, deadlineMs: 10_000 })
  const locked = await lane.begin([], [], 1, 0)
  const keep = batch<{ app: number }>({
    name: 'keep',
    columns: { app: 'bigint' },
    sql: rows => `insert into kept select app from ${rows} r`,
  })
  const statement = new WriteStatement()
  statement.add(keep, [{ app: 1 }])

  await expect(lane.commit(statement, locked, 0)).rejects.toBeInstanceOf(OutcomeUnknown)

  expect(await sql`select from kept`).toHaveLength(0)
  await lane.close()
})

test('however many statements there are, PostgreSQL keeps no more than a connection may have', async () => {
  await using database = await createDatabase()
  const open = () => openConnection({ url: database.url, statementTimeoutMs: 10_000 })
  const lane = new Lane({ open, deadlineMs: 10_000 })
  const [present] = await database.sql<{ environment: number }[]>`select head_rev as environment from environment`
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
    const locked = await lane.begin([], [], 0, 1)
    if (number % 2 === 0) await lane.commit(statement, locked, 0)
    else {
      await lane.rollback()
      const drawnAtMs = locked.ahead.atMs
      const known = { moved: 0, still: [], environment: present!.environment, drawnAtMs, count: 1 }
      expect(await lane.commitIf(statement, known)).toBe(true)
    }
    const [kept] = await lane.db<{ count: number }[]>`
      select count(*) as count from pg_prepared_statements where statement like 'with kind%'`
    counts.push(kept!.count)
  }

  expect(Math.max(...counts)).toBe(statementLimit)
  await lane.close()
})
