import { expect, test } from 'vitest'
import { RecipientBatch } from '../../src/resources/notifications/projection/recipient-batch.ts'

/** The stretches in which a crowd is told. */
function stretchesOf(users: number[]): number[][] {
  const stretches: number[][] = []
  for (let toldTo: number | null = 0; toldTo !== null;) {
    const crowd = new RecipientBatch(toldTo)
    stretches.push([...crowd.next(users)])
    toldTo = crowd.last
  }
  return stretches
}

const crowdOf = (size: number) => Array.from({ length: size }, (_, at) => 1 + ((at * 7_919) % 1_000_003))

test.each([0, 1, 99, 100, 101, 250, 1_601, 20_000])('everybody in a crowd of %d is told once, in order', size => {
  const users = crowdOf(size)

  const stretches = stretchesOf([...users, ...users.slice(0, 10)])

  expect(stretches.flat()).toEqual(users.toSorted((a, b) => a - b))
})

test('few are told at once, a crowd in short stretches, the largest in sixteen', () => {
  const sizes = (count: number) => stretchesOf(crowdOf(count)).map(({ length }) => length)
  expect(sizes(100)).toEqual([100])
  expect(sizes(250)).toEqual([100, 100, 50])
  expect(sizes(32_000)).toEqual(Array.from({ length: 16 }, () => 2_000))
})

test('whoever joins or leaves between two stretches keeps nobody else from being told once', () => {
  const [staying, leaving, joining] = [crowdOf(300), [2_000_000, 1], [3_000_000, 2]]
  const first = new RecipientBatch(0)
  const before = [...first.next([...staying, ...leaving])]

  const second = new RecipientBatch(first.last!)
  const after = [...second.next([...staying, ...joining])]
  const third = new RecipientBatch(second.last!)
  const end = [...third.next([...staying, ...joining])]

  const told = [...before, ...after, ...end]
  expect(new Set(told).size).toBe(told.length)
  expect(told).toEqual(expect.arrayContaining(staying))
})
