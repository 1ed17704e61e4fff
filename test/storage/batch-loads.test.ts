import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openSql } from '../../src/postgres/sql.ts'
import { batchLoads } from '../../src/postgres/batch-loads.ts'
import { createDatabase } from '../support/database.ts'

/** Squares of the numbers below ten, and what was asked for in each query. A query for 13 fails. */
async function openSquares() {
  const database = await createDatabase()
  const sql = openSql({ url: database.url, connections: 2, statementTimeoutMs: 10_000 })
  const queries: number[][] = []
  const squaresOf = batchLoads<number, number>(async (asked, numbers) => {
    queries.push(numbers)
    const rows = await asked<{ number: number; square: number }[]>`
      select number, number * number + 0 / (number - 13) as square from unnest(${numbers}::bigint[]) as number
      where number < 10 or number = 13`
    return new Map(rows.map(({ number, square }) => [number, square]))
  })
  return {
    queries,
    squareOf: async (number: number) => (await squaresOf(sql, [number])).get(number),
    squaresOf: (...numbers: number[]) => squaresOf(sql, numbers),
    async [Symbol.asyncDispose]() {
      await sql.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

test('what is asked for in one turn is one query, and each is told of its own', async () => {
  await using squares = await openSquares()

  const several = squares.squaresOf(7, 3)
  const answers = await Promise.all([3, 1, 12, 2].map(squares.squareOf))

  expect(answers).toEqual([9, 1, undefined, 4])
  expect((await several).get(7)).toBe(49)
  expect(squares.queries).toEqual([[7, 3, 1, 12, 2]])
})

test('what is asked for while a query runs waits for it and shares the next', async () => {
  await using squares = await openSquares()
  const first = squares.squareOf(1)
  await nextTurn()
  await nextTurn()
  expect(squares.queries).toEqual([[1]])

  const second = squares.squareOf(2)
  await nextTurn()
  const third = squares.squareOf(3)

  expect(await Promise.all([first, second, third])).toEqual([1, 4, 9])
  expect(squares.queries).toEqual([[1], [2, 3]])
})

test('a query that fails, fails for those who share it and for nobody after them', async () => {
  await using squares = await openSquares()
  const failing = [5, 13].map(squares.squareOf)
  await nextTurn()
  await nextTurn()
  const next = squares.squareOf(6)

  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await next).toBe(36)
})

test('one query asks for a thousand keys at most', async () => {
  await using squares = await openSquares()

  await Promise.all(Array.from({ length: 2_500 }, (_, number) => squares.squareOf(number + 100)))

  expect(squares.queries.map(({ length }) => length)).toEqual([1_000, 1_000, 500])
})
