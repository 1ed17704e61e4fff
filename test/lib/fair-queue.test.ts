import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { FairQueue } from '../../src/lib/fair-queue.ts'

const ann = 1
const ben = 2

/** Runs jobs until none waits or runs; returns whose jobs began, in order. */
async function runAll(queue: FairQueue, jobs: [user: number, name: string][]): Promise<string[]> {
  const begun: string[] = []
  await Promise.all(
    jobs.map(([user, name]) =>
      queue.add(user, async () => {
        begun.push(name)
        await nextTurn()
      }),
    ),
  )
  return begun
}

test('a job waits for one job of a user who has a thousand, not for all', async () => {
  const jobs = Array.from({ length: 1_000 }, (_, i): [number, string] => [ann, `ann ${i}`])

  const begun = await runAll(new FairQueue({ atOnce: 1 }), [...jobs, [ben, 'ben']])

  expect(begun.indexOf('ben')).toBeLessThanOrEqual(2)
})

test('the jobs of each user begin in order', async () => {
  const jobs = Array.from({ length: 60 }, (_, i): [number, string] => [i % 3, String(i)])

  const begun = await runAll(new FairQueue({ atOnce: 4, ofOne: () => 2 }), jobs)

  expect(begun).toHaveLength(60)
  for (const user of [0, 1, 2]) {
    const own = begun.map(Number).filter(i => i % 3 === user)
    expect(own).toEqual(own.toSorted((a, b) => a - b))
  }
})

test('a user has no more jobs at once than the share, whatever is free', async () => {
  const queue = new FairQueue({ atOnce: 10, ofOne: () => 2 })

  expect([queue.tryEnter(ann), queue.tryEnter(ann), queue.tryEnter(ann)]).toEqual([true, true, false])
  expect(queue.tryEnter(ben)).toBe(true)
})

test('a job does not overtake an older one of its user', async () => {
  const queue = new FairQueue({ atOnce: 1 })
  queue.tryEnter(ann)
  queue.wait(ann, { start: () => {} })
  queue.leave(ann)

  expect(queue.tryEnter(ann)).toBe(false)
})

test('a user may have no more jobs waiting than the limits allow, in number and in size', () => {
  const queue = new FairQueue({ atOnce: 1, waitingOfOne: 3, bytesOfOne: 10 })
  queue.tryEnter(ann)
  const wait = (user: number, sizeBytes = 0) => queue.wait(user, { start: () => {}, sizeBytes })

  expect([wait(ann, 6), wait(ann, 5), wait(ann, 4), wait(ann), wait(ann)]).toEqual([true, false, true, true, false])
  // What is too large for the limit may wait alone.
  expect([wait(ben, 11), wait(ben, 1)]).toEqual([true, false])
})

test('a job that was taken back never begins, and leaves its place to the next', async () => {
  const queue = new FairQueue({ atOnce: 1 })
  const begun: string[] = []
  const toJob = (name: string) => ({ start: () => void begun.push(name) })
  const [first, second] = [toJob('first'), toJob('second')]
  queue.tryEnter(ben)
  queue.wait(ann, first)
  queue.wait(ann, second)

  expect(queue.remove(ann, first)).toBe(true)
  queue.leave(ben)
  await nextTurn()
  await nextTurn()

  expect(begun).toEqual(['second'])
  expect(queue.remove(ann, second)).toBe(false)
  queue.leave(ann)
  expect([queue.size, queue.countOf(ann), queue.countOf(ben)]).toEqual([0, 0, 0])
})

test('a user who is to rest begins nothing, and goes on after it; others do not wait meanwhile', async () => {
  let isResting = true
  const queue = new FairQueue({ atOnce: 1, isResting: user => user === ann && isResting })
  const begun: string[] = []
  const run = (user: number, name: string) =>
    queue.add(user, async () => {
      begun.push(name)
      await nextTurn()
    })

  const rested = [run(ann, 'ann 1'), run(ann, 'ann 2')]
  for (let i = 0; i < 20; i++) await run(ben, `ben ${i}`)
  const before = [...begun]
  isResting = false
  await Promise.all(rested)

  expect(before).toEqual(Array.from({ length: 20 }, (_, i) => `ben ${i}`))
  expect(begun.slice(20)).toEqual(['ann 1', 'ann 2'])
})
