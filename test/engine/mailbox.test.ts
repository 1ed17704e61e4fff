import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PendingCommand } from '../../src/engine/app-actor.ts'
import { Mailbox } from '../../src/engine/commit/mailbox.ts'

const all = () => true

/** A command of a user that can be told apart from others. */
const commandOf = (user: number, name: number) =>
  ({ by: { kind: 'user', user, credential: '' }, input: name }) as unknown as PendingCommand
const nameOf = ({ input }: PendingCommand) => input as number
const userOf = ({ by }: PendingCommand) => by.user

test('a command waits for one command of a user who has a thousand', () => {
  const mailbox = new Mailbox()
  for (let i = 0; i < 1_000; i++) mailbox.add(commandOf(1, i))
  mailbox.add(commandOf(2, 1_000))

  expect(mailbox.take(3, all).map(userOf)).toEqual([1, 2, 1])
})

test('a command of somebody new waits for the rest of the round that is being taken, and no longer', () => {
  const mailbox = new Mailbox()
  for (let i = 0; i < 10; i++) for (const user of [1, 2, 3]) mailbox.add(commandOf(user, i))
  mailbox.take(4, all)
  mailbox.add(commandOf(4, 0))

  expect(mailbox.take(4, all).map(userOf)).toEqual([2, 3, 4, 1])
})

test('commands are taken up to the first one that is not wanted', () => {
  const mailbox = new Mailbox()
  for (let i = 0; i < 5; i++) mailbox.add(commandOf(i, i))

  expect(mailbox.take(10, pending => nameOf(pending) !== 3).map(nameOf)).toEqual([0, 1, 2])
  expect(mailbox.take(10, pending => nameOf(pending) !== 3)).toEqual([])
  expect([mailbox.size, nameOf(mailbox.next!)]).toEqual([2, 3])
})

test('whatever is added, taken and put back, each user has an order, and nothing is lost or repeated', () => {
  const step = fc.oneof(
    fc.record({ add: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ take: fc.integer({ min: 1, max: 6 }), isPutBack: fc.boolean() }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), steps => {
      const mailbox = new Mailbox()
      const done: PendingCommand[] = []
      let added = 0
      for (const step of steps) {
        if ('add' in step) mailbox.add(commandOf(step.add, added++))
        else {
          const taken = mailbox.take(step.take, all)
          if (step.isPutBack) mailbox.putBack(taken)
          else done.push(...taken)
        }
        expect(mailbox.size).toBe(added - done.length)
      }
      done.push(...mailbox.take(Number.POSITIVE_INFINITY, all))

      expect(done.map(nameOf).toSorted((a, b) => a - b)).toEqual(Array.from({ length: added }, (_, i) => i))
      for (const user of [1, 2, 3, 4]) {
        const names = done.filter(pending => userOf(pending) === user).map(nameOf)
        expect(names).toEqual(names.toSorted((a, b) => a - b))
      }
    }),
  )
})
