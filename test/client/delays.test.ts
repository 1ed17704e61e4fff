import { expect, test } from 'vitest'
import { codes, toDelayMs } from '../../src/client/connection/delays.ts'

/** The least and the most that a client waits, after so many attempts that failed. */
const between = (code: number, failures: number) => [0, 1].map(random => toDelayMs(code, failures, () => random))

test('pauses between attempts grow to half a minute, and are random from the start', () => {
  expect([0, 1, 2, 5, 6, 60].map(failures => between(1006, failures))).toEqual([
    [0, 250],
    [0, 1_000],
    [0, 2_000],
    [0, 16_000],
    [0, 30_000],
    [0, 30_000],
  ])
})

test('clients of a server that starts anew come back over five seconds, and those that fail then as ever', () => {
  expect([0, 1].map(failures => between(codes.restarting, failures))).toEqual([
    [0, 5_000],
    [0, 1_000],
  ])
})

test('where there is too much of something, nobody comes back within five seconds', () => {
  expect([0, 6].map(failures => between(codes.tooMany, failures))).toEqual([
    [5_000, 5_250],
    [5_000, 35_000],
  ])
})
