import { expect, test } from 'vitest'
import { everyWhile, withTimeout } from '../../src/lib/clock.ts'
import { ManualClock } from '../support/manual-clock.ts'

test('what takes longer than its time comes to what is said for that case, and what comes later is dropped', async () => {
  const clock = new ManualClock()
  const work = Promise.withResolvers<string>()
  const answer = withTimeout(work.promise, { clock, timeoutMs: 100, onTimeout: () => 'late' })

  clock.advance(100)
  work.reject(new Error('nobody is concerned any more'))

  expect(await answer).toBe('late')
})

test('what ends in its time is what it was, and the other case does not come', async () => {
  const clock = new ManualClock()
  let isLate = false
  const onTimeout = () => (isLate = true)

  expect(await withTimeout(Promise.resolve('done'), { clock, timeoutMs: 100, onTimeout })).toBe('done')
  await expect(withTimeout(Promise.reject(new Error('no')), { clock, timeoutMs: 100, onTimeout })).rejects.toThrow('no')

  clock.advance(1_000)
  expect(isLate).toBe(false)
})

test('a time that has passed may be a failure', async () => {
  const clock = new ManualClock()
  const onTimeout = () => {
    throw new Error('too late')
  }
  const answer = withTimeout(new Promise(() => {}), { clock, timeoutMs: 100, onTimeout })

  clock.advance(100)

  await expect(answer).rejects.toThrow('too late')
})

test('what comes round while it is needed begins when it is asked for, and ends when nothing is left', async () => {
  const clock = new ManualClock()
  const left = [true, false, false, false]
  let turns = 0
  const need = everyWhile(clock, 100, new AbortController().signal, () => left[turns++]!)
  const turnsIn = async (periods: number) => {
    const before = turns
    for (let i = 0; i < periods; i++) {
      clock.advance(100)
      await new Promise(resolve => setImmediate(resolve))
    }
    return turns - before
  }

  expect(await turnsIn(3)).toBe(0)
  need()
  need()
  expect(await turnsIn(3)).toBe(2)
  need()
  expect(await turnsIn(3)).toBe(1)
})

test('what becomes needed during a turn that finds nothing left has another turn, after it', async () => {
  const clock = new ManualClock()
  const stopping = new AbortController()
  const ends = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()]
  let turns = 0
  const need = everyWhile(clock, 100, stopping.signal, () => ends[turns++]!.promise)
  const settle = () => new Promise(resolve => setImmediate(resolve))

  need()
  clock.advance(100)
  need()
  clock.advance(100)
  expect(turns).toBe(1)
  ends[0]!.resolve(false)
  await settle()
  clock.advance(100)
  expect(turns).toBe(2)
  ends[1]!.resolve(true)
  await settle()
  stopping.abort()
  clock.advance(100)
  expect(turns).toBe(2)
})
