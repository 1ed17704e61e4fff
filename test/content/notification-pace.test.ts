import { expect, test } from 'vitest'
import { toRestMs } from '../../src/resources/notifications/pace.ts'

const quiet = { waiting: 0, events: 10, told: 70, tookMs: 20, lateMs: 0 }
const crowd = { ...quiet, events: 1, told: 999 }
const rush = { ...quiet, waiting: 100 }

test('in rooms of usual size, notifications are made as they come', () => {
  expect(toRestMs(quiet)).toBe(0)
  expect(toRestMs({ ...quiet, events: 200, told: 1_400 })).toBe(0)
  expect(toRestMs({ ...quiet, events: 0, told: 0 })).toBe(0)
})

test('where many write, or many are told of each event, it takes a twentieth of the time', () => {
  for (const worked of [crowd, rush]) {
    const restMs = toRestMs(worked)
    expect(worked.tookMs / (worked.tookMs + restMs)).toBeCloseTo(0.05)
  }
})

test('the later they are, the more time they are given, until they follow what is written', () => {
  const share = (worked: typeof quiet) => worked.tookMs / (worked.tookMs + toRestMs(worked))
  expect(share({ ...crowd, lateMs: 10_000 })).toBeCloseTo(0.05)
  expect(share({ ...crowd, lateMs: 40_000 })).toBeGreaterThan(0.15)
  expect(share({ ...crowd, lateMs: 200_000 })).toBeGreaterThan(0.5)
  expect(share({ ...rush, lateMs: 60_000 })).toBeCloseTo(0.05)
  expect(share({ ...rush, lateMs: 1_200_000 })).toBeGreaterThan(0.5)
})

test('a rest ends after five seconds, and clocks that disagree make none longer', () => {
  expect(toRestMs({ ...crowd, tookMs: 60_000 })).toBe(5_000)
  expect(toRestMs({ ...crowd, lateMs: -5_000 })).toBe(toRestMs(crowd))
})
