import { expect, test } from 'vitest'
import { rememberedCount } from '../../src/postgres/cached-query.ts'
import { createDatabase } from '../support/database.ts'

test('a high count that took long is asked for once for each question and database, a low one each time', async () => {
  await using database = await createDatabase()
  await using other = await createDatabase()
  const asked: string[] = []
  const count = (of: 'one' | 'other', question: string, answer: number) => {
    const { sql } = of === 'one' ? database : other
    return rememberedCount(sql, [question], async () => {
      asked.push(`${of} ${question}`)
      await sql`select pg_sleep(0.03)`
      return answer
    })
  }

  expect(await count('one', 'many', 5_000)).toBe(5_000)
  expect(await count('one', 'many', 6_000)).toBe(5_000)
  expect(await count('other', 'many', 6_000)).toBe(6_000)
  expect(await count('one', 'more', 7_000)).toBe(7_000)
  expect(await count('one', 'few', 2_000)).toBe(2_000)
  expect(await count('one', 'few', 1_999)).toBe(1_999)

  expect(asked).toEqual(['one many', 'other many', 'one more', 'one few', 'one few'])
})

test('a count that failed is asked for again', async () => {
  await using database = await createDatabase()
  const fail = () => Promise.reject(new Error('PostgreSQL is away'))

  await expect(rememberedCount(database.sql, ['all'], fail)).rejects.toThrow('away')

  expect(await rememberedCount(database.sql, ['all'], async () => 3)).toBe(3)
})
