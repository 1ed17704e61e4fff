import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ReplayBuffer, ReplayBuffers } from '../../src/realtime/topics/replay-buffer.ts'
import { collectGarbage } from '../support/garbage.ts'

const line = (rev: number, size = 100) => ({ rev, topic: 'a7', bytes: new Uint8Array(size) })
const revs = (buffer: ReplayBuffer, after: number) => Array.from(buffer.after(after), ({ rev }) => rev)

test('a replay buffer gives what followed a rev, oldest first', () => {
  const buffer = new ReplayBuffer(10)

  for (const rev of [12, 13, 17]) buffer.push(line(rev))

  expect(revs(buffer, 10)).toEqual([12, 13, 17])
  expect(revs(buffer, 13)).toEqual([17])
  expect(revs(buffer, 17)).toEqual([])
})

test('what was read from the log lies before what was published', () => {
  const buffer = new ReplayBuffer(20)
  buffer.push(line(22))

  buffer.prepend(10, [line(12), line(20)])

  expect(buffer.start).toBe(10)
  expect(revs(buffer, 10)).toEqual([12, 20, 22])
})

test('under the budget of all tails the oldest goes first, whichever app it belongs to', () => {
  const buffers = new ReplayBuffers(1_000)
  const [one, other] = [new ReplayBuffer(0), new ReplayBuffer(0)]

  buffers.push(one, line(1, 300))
  buffers.push(other, line(2, 300))
  buffers.push(one, line(3, 300))

  expect(revs(one, one.start)).toEqual([3])
  expect(one.start).toBe(1)
  expect(revs(other, other.start)).toEqual([2])
})

test('an event keeps none of the memory that its encoder shares with others', () => {
  const buffers = new ReplayBuffers(1_000_000)
  const buffer = new ReplayBuffer(0)
  const pool = new Uint8Array(8_192).fill(7)

  for (const rev of [1, 2, 3])
    buffers.push(buffer, { rev, topic: 'a7', bytes: pool.subarray(rev * 100, rev * 100 + 50) })
  buffers.push(buffer, { rev: 4, topic: 'a7', bytes: new Uint8Array(30_000).fill(7).subarray(0, 20_000) })
  pool.fill(0)

  const kept = Array.from(buffer.after(0), ({ bytes }) => bytes)
  expect(kept.map(({ length }) => length)).toEqual([50, 50, 50, 20_000])
  expect(kept.every(bytes => bytes.every(byte => byte === 7))).toBe(true)
  const memory = [...new Set(kept.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0)
  expect(memory).toBeLessThan(90_000)
  expect(buffers.bytes).toBe(memory + 4 * 200)
})

test('whatever comes and goes, the budget holds and a buffer is complete after its start', () => {
  const buffer = fc.integer({ min: 0, max: 2 })
  const operation = fc.oneof(
    {
      weight: 400,
      arbitrary: fc.record({ kind: fc.constant('push'), buffer, amount: fc.integer({ min: 1, max: 900 }) }),
    },
    {
      weight: 10,
      arbitrary: fc.record({ kind: fc.constant('prepend'), buffer, amount: fc.integer({ min: 1, max: 40 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop'), buffer, amount: fc.constant(0) }) },
  )
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 3_000, size: 'max' }), operations => {
      const buffers = new ReplayBuffers(20_000)
      const all = [0, 1, 2].map(() => ({ buffer: new ReplayBuffer(0), told: [] as number[] }))
      let rev = 0
      for (const { kind, buffer, amount } of operations) {
        const one = all[buffer]!
        if (kind === 'drop') {
          buffers.drop(one.buffer)
          one.buffer = new ReplayBuffer(rev)
        } else if (kind === 'push') {
          one.told.push(++rev)
          buffers.push(one.buffer, line(rev, amount))
        } else {
          // As many as were told before it begins.
          const gone = one.told.filter(rev => rev <= one.buffer.start).slice(-amount - 1)
          const [start = 0, ...lines] = gone
          if (gone.length > 0)
            buffers.prepend(
              one.buffer,
              start,
              lines.map(rev => line(rev)),
            )
        }
        const kept = all.flatMap(({ buffer }) => Array.from(buffer.after(buffer.start), ({ bytes }) => bytes.buffer))
        const memory = [...new Set(kept)].reduce((sum, { byteLength }) => sum + byteLength, 0)
        if (buffers.bytes > 20_000 || buffers.bytes !== memory + kept.length * 200) return false
      }
      return all.every(
        ({ buffer, told }) =>
          JSON.stringify(revs(buffer, buffer.start)) === JSON.stringify(told.filter(rev => rev > buffer.start)),
      )
    }),
    // To shrink so many operations takes minutes.
    { numRuns: 50, endOnFailure: true },
  )
})

test('apps that come and go, and events that are over, leave nothing behind in memory', async () => {
  const buffers = new ReplayBuffers(1_000_000)
  const [busy, told]: [ReplayBuffer, WeakRef<object>[]] = [new ReplayBuffer(0), []]
  for (let rev = 1; rev <= 10_000; rev++) {
    const event = line(rev, 10_000)
    buffers.push(busy, event)
    told.push(new WeakRef(event))
  }
  buffers.drop(busy)

  const gone = Array.from({ length: 10_000 }, (_, i) => {
    const buffer = new ReplayBuffer(i)
    buffers.push(buffer, line(i))
    buffers.drop(buffer)
    return new WeakRef(buffer)
  })
  await collectGarbage()

  expect(buffers.bytes).toBe(0)
  for (const left of [told, gone]) expect(left.filter(one => one.deref() !== undefined).length).toBeLessThan(2_000)
})
