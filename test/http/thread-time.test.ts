import { expect, test } from 'vitest'
import { ThreadTime } from '../../src/http/request/thread-time.ts'

const ann = 1
const ben = 2

/** The time of an event loop, whose clock only work moves. */
function startTime() {
  let now = 0
  const time = new ThreadTime(() => now)
  return {
    time,
    pass: (ms: number) => (now += ms),
    /** A request of a caller, with work of so many milliseconds. */
    ask(caller: number | string, ms: number) {
      time.asks(caller)
      time.measure(caller, () => (now += ms))
    },
  }
}

test('a user whose requests have taken more than the share rests while another one asks, in proportion', () => {
  const { time, ask, pass } = startTime()
  ask(ann, 265)
  ask(ben, 1)

  expect([time.isResting(ann), time.isResting(ben)]).toEqual([true, false])
  pass(300)
  expect(time.isResting(ann)).toBe(true)
  pass(100)
  expect(time.isResting(ann)).toBe(false)
})

test('a user beside whom no other asks never rests', () => {
  const { time, ask, pass } = startTime()
  for (let i = 0; i < 100; i++) ask(ann, 50)
  const alone = time.isResting(ann)

  ask(ben, 1)
  const beside = time.isResting(ann)
  pass(500)

  expect([alone, beside, time.isResting(ann)]).toEqual([false, true, false])
})

test('no rest is longer than five seconds, whatever was done before', () => {
  const { time, ask, pass } = startTime()
  for (let i = 0; i < 1_000; i++) ask(ann, 50)
  ask(ben, 1)
  const before = time.isResting(ann)

  for (let i = 0; i < 20; i++) {
    pass(255)
    ask(ben, 0)
  }

  expect([before, time.isResting(ann)]).toEqual([true, false])
})

test('where all use as much, none rests', () => {
  const { time, ask } = startTime()
  const resting: boolean[] = []
  for (let i = 0; i < 200; i++) {
    ask(ann, 10)
    ask(ben, 10)
    resting.push(time.isResting(ann) || time.isResting(ben))
  }

  expect(resting.lastIndexOf(true)).toBeLessThan(100)
})

test('an API key, which acts for many, never rests, and others make room for it', () => {
  const { time, ask } = startTime()
  ask(ann, 270)
  ask('key', 300)

  expect([time.isResting('key'), time.isResting(ann)]).toEqual([false, true])
})

test('work that fails counts as well', () => {
  const { time, ask, pass } = startTime()
  const fail = () =>
    time.measure(ann, () => {
      pass(270)
      throw new Error('Refused')
    })

  expect(fail).toThrow('Refused')
  ask(ben, 1)
  expect(time.isResting(ann)).toBe(true)
})
