import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Tail, Tails } from '../../src/realtime/channels/tail.ts'

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
  const operation = fc.record({
    kind: fc.constantFrom('push', 'push', 'push', 'push', 'drop'),
    tail: fc.integer({ min: 0, max: 2 }),
    size: fc.integer({ min: 1, max: 900 }),
  })
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 3_000, size: 'max' }), operations => {
      const tails = new Tails(20_000)
      const all = [new Tail(0), new Tail(0), new Tail(0)]
      const pushed: number[][] = [[], [], []]
      let rev = 0
      for (const { kind, tail, size } of operations) {
        rev++
        if (kind === 'drop') {
          tails.drop(all[tail]!)
          all[tail] = new Tail(rev)
        } else {
          tails.push(all[tail]!, line(rev, size))
          pushed[tail]!.push(rev)
        }
        if (tails.bytes > 20_000) return false
      }
      return all.every((tail, i) => {
        const expected = pushed[i]!.filter(rev => rev > tail.start)
        return JSON.stringify(revs(tail, tail.start)) === JSON.stringify(expected)
      })
    }),
    { numRuns: 50 },
  )
})

test('an app that comes and goes leaves nothing behind', () => {
  const tails = new Tails(1_000_000)

  for (let i = 1; i <= 10_000; i++) {
    const tail = new Tail(i)
    tails.push(tail, line(i))
    tails.drop(tail)
  }

  expect(tails.bytes).toBe(0)
})
