import { expect, test } from 'vitest'
import { withTimeout } from '../../src/lib/clock.ts'
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
