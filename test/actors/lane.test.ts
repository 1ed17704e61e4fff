import { expect, test } from 'vitest'
import { Lane } from '../../src/actors/lane.ts'
import { usableMs } from '../../src/actors/stock.ts'
import { WriteStatement } from '../../src/storage/batch.ts'
import { openSql } from '../../src/storage/sql.ts'
import { createDatabase } from '../support/database.ts'

test('PostgreSQL commits with numbers that were drawn just now, and not with older ones', async () => {
  await using database = await createDatabase()
  const open = () => openSql({ url: database.url, connections: 1, statementTimeoutMs: 10_000 })
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
  const open = () => openSql({ url: database.url, connections: 1, statementTimeoutMs: 10_000 })
  const lanes = [new Lane({ open, deadlineMs: 10_000 }), new Lane({ open, deadlineMs: 10_000 })]
  const drawn: number[] = []
  for (const count of [1, 2, 64, 65, 300]) {
    for (const lane of lanes) {
      const { numbers } = await lane.begin([], [], count, count)
      await lane.rollback()
      const [single] = await database.sql<{ number: number }[]>`select nextval('numbers')::int as number`
      expect(numbers).toHaveLength(count)
      drawn.push(...numbers, ...lane.stock.take(count, 0)!.numbers, single!.number)
    }
  }

  expect(drawn).toEqual([...new Set(drawn)].sort((a, b) => a - b))
  for (const lane of lanes) await lane.close()
})
