import { expect, test } from 'vitest'
import { Contention } from '../../src/engine/app-actor.ts'

/** How many commits ask for the lock first, where each of them then finds that nobody else has written. */
function countCareful(contention: Contention): number {
  let commits = 0
  for (; contention.isCareful; commits++) contention.succeeded()
  return commits
}

test('each conflict makes twice as many commits of the app ask for its lock first, up to 64', () => {
  const contention = new Contention()
  expect(contention.isCareful).toBe(false)

  const careful = Array.from({ length: 9 }, () => {
    contention.conflicted()
    return countCareful(contention)
  })

  expect(careful).toEqual([1, 2, 4, 8, 16, 32, 64, 64, 64])
})

test('a commit that needed no lock makes up for all conflicts before it', () => {
  const contention = new Contention()
  for (let i = 0; i < 5; i++) contention.conflicted()
  countCareful(contention)

  contention.succeeded()
  contention.conflicted()

  expect(countCareful(contention)).toBe(1)
})
