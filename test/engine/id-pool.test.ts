import { expect, test } from 'vitest'
import { IdPool, usableMs } from '../../src/log/id-pool.ts'

function createPool() {
  const clock = { nowMs: 0 }
  const ids = new IdPool(() => clock.nowMs)
  const fill = () => ids.put({ ids: [11, 12, 13, 14], atMs: 5 })
  return { clock, ids, fill }
}

test('numbers are taken once, in order, and only if there are enough above the rev', () => {
  const { ids, fill } = createPool()
  fill()
  expect(ids.take(1, 11)).toBeNull()
  expect(ids.take(5, 0)).toBeNull()
  expect(ids.take(3, 10)).toEqual({ ids: [11, 12, 13], atMs: 5 })
  expect(ids.take(1, 10)).toEqual({ ids: [14], atMs: 5 })
  expect(ids.take(1, 10)).toBeNull()
})

test('numbers that a commit could hardly use in time are not given', () => {
  const { clock, ids, fill } = createPool()
  fill()
  clock.nowMs = usableMs / 2
  expect(ids.take(1, 0)).not.toBeNull()
  clock.nowMs++
  expect(ids.take(1, 0)).toBeNull()
})

test('there are numbers for more than the largest commit of late takes', () => {
  const { ids } = createPool()
  expect(ids.refillSize(200)).toBeGreaterThan(200)
  expect(ids.refillSize(2)).toBeGreaterThan(180)
  for (let i = 0; i < 100; i++) ids.refillSize(2)
  expect(ids.refillSize(2)).toBeLessThan(40)
})
