import { expect, test } from 'vitest'
import { EventLoopLoad, toPauseMs } from '../../src/resources/notifications/processing/pace.ts'

const quiet = {
  waiting: 0,
  nodes: 1,
  isFull: false,
  projected: 5,
  notifications: 35,
  tookMs: 20,
  lateMs: 0,
  otherLoad: 1,
}
const much = { ...quiet, projected: 70, notifications: 490 }
const crowd = { ...quiet, projected: 1, notifications: 999 }
const rush = { ...much, waiting: 100 }
const shareOf = (worked: typeof quiet) => worked.tookMs / (worked.tookMs + toPauseMs(worked))

test('where little is to be told, there is no rest but that in which more is gathered', () => {
  expect(toPauseMs(quiet)).toBe(0)
})

test('while many write all of it waits for them, until it is some seconds late', () => {
  const written = { ...quiet, projected: 0, notifications: 0, waiting: 100, tookMs: 40 }
  expect(shareOf(written)).toBeCloseTo(0.05)
  expect(shareOf({ ...written, lateMs: 2_000 })).toBeCloseTo(0.1, 1)
  expect(toPauseMs({ ...written, lateMs: 4_000 })).toBe(0)
  expect(toPauseMs({ ...written, tookMs: 600 })).toBe(1_000)
})

test('what a rush has left is done as fast as it may be felt, and half of the time in one that lasts, or more if that is too little', () => {
  const left = { ...quiet, isFull: true, projected: 0, notifications: 0 }
  expect(shareOf({ ...left, otherLoad: 0.05 })).toBeCloseTo(0.8)
  expect(shareOf({ ...left, otherLoad: 1 })).toBeCloseTo(0.5)
  expect(shareOf({ ...left, waiting: 100, lateMs: 2_000 })).toBeCloseTo(0.1, 1)
  expect(shareOf({ ...left, waiting: 100, lateMs: 4_000 })).toBeCloseTo(0.5)
  expect(shareOf({ ...left, waiting: 100, lateMs: 6_000 })).toBeCloseTo(0.8)
})

test('nodes that commit to one database share the time that one of them would have', () => {
  const left = { ...quiet, isFull: true, projected: 0, notifications: 0, waiting: 100, lateMs: 20_000 }
  for (const worked of [left, much]) expect(toPauseMs({ ...worked, nodes: 3 })).toBe(3 * toPauseMs(worked))
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
  expect(toPauseMs({ ...crowd, tookMs: 60_000 })).toBe(1_000)
  expect(toPauseMs({ ...crowd, lateMs: -5_000 })).toBe(toPauseMs(crowd))
})

test('where the thread has little else to do, they are made four fifths of the time, but while many write', () => {
  for (const worked of [much, crowd]) {
    expect(shareOf({ ...worked, otherLoad: 0.05 })).toBeCloseTo(0.8)
    const shares = [0.05, 0.1, 0.2, 0.3].map(otherLoad => shareOf({ ...worked, otherLoad }))
    expect(shares).toEqual(shares.toSorted((a, b) => b - a))
    expect(shares.at(-1)).toBe(shareOf(worked))
  }
  expect(shareOf({ ...rush, otherLoad: 0 })).toBeCloseTo(0.05)
})

test('what others do counts as it was in the last second or so of rests, however short these are', () => {
  const otherLoad = new EventLoopLoad()
  expect(otherLoad.share).toBe(1)
  otherLoad.record(0, 4_000)
  expect(otherLoad.share).toBeCloseTo(0, 1)
  for (let ms = 0; ms < 3_000; ms += 5) otherLoad.record(ms % 50 === 0 ? 1 : 0, 5)
  expect(otherLoad.share).toBeCloseTo(0.1, 1)
})
