import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Tail, Tails } from '../../src/realtime/channels/tail.ts'
import { collectGarbage } from '../support/garbage.ts'

const line = (rev: number, size = 100) => ({ rev, topic: 'a7', bytes: new Uint8Array(size) })
const revs = (tail: Tail, after: number) => Array.from(tail.after(after), ({ rev }) => rev)

test('a tail gives what followed a rev, oldest first', () => {
  const tail = new Tail(10)

  for (const rev of [12, 13, 17]) tail.push(line(rev))

  expect(revs(tail, 10)).toEqual([12, 13, 17])
  expect(revs(tail, 13)).toEqual([17])
  expect(revs(tail, 17)).toEqual([])
})

test('what was read from the log lies before what was heard', () => {
  const tail = new Tail(20)
  tail.push(line(22))

  tail.prepend(10, [line(12), line(20)])

  expect(tail.start).toBe(10)
  expect(revs(tail, 10)).toEqual([12, 20, 22])
})

test('under the budget of all tails the oldest goes first, whichever app it belongs to', () => {
  const tails = new Tails(1_000)
  const [one, other] = [new Tail(0), new Tail(0)]

  tails.push(one, line(1, 300))
  tails.push(other, line(2, 300))
  tails.push(one, line(3, 300))

  expect(revs(one, one.start)).toEqual([3])
  expect(one.start).toBe(1)
  expect(revs(other, other.start)).toEqual([2])
})

test('whatever comes and goes, the budget holds and a tail is complete after its start', () => {
  const tail = fc.integer({ min: 0, max: 2 })
  const operation = fc.oneof(
    {
      weight: 400,
      arbitrary: fc.record({ kind: fc.constant('push'), tail, amount: fc.integer({ min: 1, max: 900 }) }),
    },
    {
      weight: 10,
      arbitrary: fc.record({ kind: fc.constant('prepend'), tail, amount: fc.integer({ min: 1, max: 40 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop'), tail, amount: fc.constant(0) }) },
  )
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 3_000, size: 'max' }), operations => {
      const tails = new Tails(20_000)
      const all = [0, 1, 2].map(() => ({ tail: new Tail(0), told: [] as number[] }))
      let rev = 0
      for (const { kind, tail, amount } of operations) {
        const one = all[tail]!
        if (kind === 'drop') {
          tails.drop(one.tail)
          one.tail = new Tail(rev)
        } else if (kind === 'push') {
          one.told.push(++rev)
          tails.push(one.tail, line(rev, amount))
        } else {
          // As many as were told before it begins.
          const gone = one.told.filter(rev => rev <= one.tail.start).slice(-amount - 1)
          const [start = 0, ...lines] = gone
          if (gone.length > 0)
            tails.prepend(
              one.tail,
              start,
              lines.map(rev => line(rev)),
            )
        }
        const bytes = all.flatMap(({ tail }) => Array.from(tail.after(tail.start), ({ bytes }) => bytes.length))
        if (tails.bytes > 20_000 || bytes.reduce((sum, each) => sum + each, 0) > 20_000) return false
      }
      return all.every(
        ({ tail, told }) =>
          JSON.stringify(revs(tail, tail.start)) === JSON.stringify(told.filter(rev => rev > tail.start)),
      )
    }),
    // To shrink so many operations takes minutes.
    { numRuns: 50, endOnFailure: true },
  )
})

test('apps that come and go, and events that are over, leave nothing behind in memory', async () => {
  const tails = new Tails(1_000_000)
  const [busy, told]: [Tail, WeakRef<object>[]] = [new Tail(0), []]
  for (let rev = 1; rev <= 10_000; rev++) {
    const event = line(rev, 10_000)
    tails.push(busy, event)
    told.push(new WeakRef(event))
  }
  tails.drop(busy)

  const gone = Array.from({ length: 10_000 }, (_, i) => {
    const tail = new Tail(i)
    tails.push(tail, line(i))
    tails.drop(tail)
    return new WeakRef(tail)
  })
  await collectGarbage()

  expect(tails.bytes).toBe(0)
  for (const left of [told, gone]) expect(left.filter(one => one.deref() !== undefined).length).toBeLessThan(2_000)
})
