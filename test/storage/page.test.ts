import { expect, test } from 'vitest'
import { Problem } from '../../src/lib/errors.ts'
import { Listing, toPage, toPagedList } from '../../src/api/page.ts'

const orderOf = (order_by?: string, ties?: 'along') => {
  const { order } = toPage({ ...(order_by !== undefined && { order_by }) }, ['id', 'name', 'rev'], 'name desc', ties)
  return order.map(({ field, descending }) => `${field} ${descending ? 'down' : 'up'}`)
}

test.each([
  [undefined, ['name down', 'id up']],
  ['name', ['name up', 'id up']],
  ['name desc', ['name down', 'id up']],
  ['name+DESC', ['name down', 'id up']],
  [' name  Asc , rev desc', ['name up', 'rev down', 'id up']],
  ['rev desc,rev,name', ['rev down', 'name up', 'id up']],
  ['id desc,name', ['id down', 'name up']],
])('a list by %s is sorted by %j', (asked, expected) => {
  expect(orderOf(asked)).toEqual(expected)
})

test('ties go along with what is sorted by before them, where that is asked for', () => {
  expect([orderOf('rev desc', 'along'), orderOf('rev', 'along')]).toEqual([
    ['rev down', 'id down'],
    ['rev up', 'id up'],
  ])
})

test.each(['size', 'name down', 'name desc desc', 'name,'])('nothing can be sorted by "%s"', asked => {
  expect(() => orderOf(asked)).toThrow(Problem)
})

test('a list of what has no ids is sorted by what it has', () => {
  expect(toPage({}, ['name'], 'name').order).toEqual([{ field: 'name', descending: false }])
})

test.each([
  [{ skip: '0', take: '1' }, true],
  [{ take: '100' }, true],
  [{ skip: String(Number.MAX_SAFE_INTEGER) }, true],
  [{ take: '0' }, false],
  [{ take: '101' }, false],
  [{ take: '1.5' }, false],
  [{ skip: '-1' }, false],
  [{ skip: '9007199254740993' }, false],
  [{ q: 'a'.repeat(512) }, true],
  [{ q: 'a'.repeat(513) }, false],
  [{ tag: Array.from({ length: 50 }, () => 'a') }, true],
  [{ tag: Array.from({ length: 51 }, () => 'a') }, false],
])('whether a list may be asked for with %j: %s', (asked, expected) => {
  expect(Listing.safeParse(asked).success).toBe(expected)
})

test('a list shows what is not in the trash, unless it is asked for that, or for both', () => {
  const trashed = (['true', 'false', 'null', undefined] as const).map(
    trashed => toPage({ ...(trashed && { trashed }) }, ['id'], 'id').trashed,
  )

  expect(trashed).toEqual([true, false, null, false])
})

test('a list of which nothing is said has the first 25 that there are', () => {
  expect(toPage({}, ['id'], 'id')).toMatchObject({ skip: 0, take: 25, countOnly: false, q: undefined, tags: [] })
  expect(toPage(Listing.parse({ skip: '3', take: '4', count_only: 'true' }), ['id'], 'id')).toMatchObject({
    skip: 3,
    take: 4,
    countOnly: true,
  })
})

test('a list never says that it ends behind all that there is', () => {
  const listed = toPagedList({ skip: 2, countOnly: false }, 3, ['c', 'd'])

  expect(listed).toEqual({ data: ['c', 'd'], start: 2, end: 4, count: 4 })
  expect(toPagedList({ skip: 2, countOnly: true }, 3, [])).toEqual({ count: 3 })
})
