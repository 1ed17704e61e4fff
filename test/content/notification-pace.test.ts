import { expect, test } from 'vitest'
import { toRestMs } from '../../src/resources/notifications/pace.ts'

const quiet = { waiting: 0, telling: 5, told: 35, tookMs: 20, lateMs: 0 }
const much = { ...quiet, telling: 70, told: 490 }
const crowd = { ...quiet, telling: 1, told: 999 }
const rush = { ...quiet, waiting: 100 }
const shareOf = (worked: typeof quiet) => worked.tookMs / (worked.tookMs + toRestMs(worked))

test('a few notifications are made as they come', () => {
  expect(toRestMs(quiet)).toBe(0)
  expect(toRestMs({ ...quiet, telling: 0, told: 0 })).toBe(0)
})

test('many take a fifth of the time, a twentieth where a crowd is told of one event, or many people write', () => {
  expect(shareOf(much)).toBeCloseTo(0.2)
  expect(shareOf(crowd)).toBeCloseTo(0.05)
  expect(shareOf(rush)).toBeCloseTo(0.05)
})

test('the later they are, the more time they are given, until they follow what is written', () => {
  expect(shareOf({ ...crowd, lateMs: 300_000 })).toBeCloseTo(0.05)
  expect(shareOf({ ...crowd, lateMs: 1_500_000 })).toBeCloseTo(0.2, 1)
  expect(shareOf({ ...rush, lateMs: 6_000_000 })).toBeGreaterThan(0.5)
})

test('a rest ends after a second, and clocks that disagree make none longer', () => {
  expect(toRestMs({ ...crowd, tookMs: 60_000 })).toBe(1_000)
  expect(toRestMs({ ...crowd, lateMs: -5_000 })).toBe(toRestMs(crowd))
})
