import { expect, test } from 'vitest'
import { OtherNodes } from '../../src/engine/nodes/other-nodes.ts'
import { openActors } from '../support/actors.ts'
import { openRooms, send } from '../support/rooms.ts'

test('what waits on other nodes is what each of them said last, for a fifth of a second', () => {
  const clock = { nowMs: 0 }
  const others = new OtherNodes(() => clock.nowMs)
  expect(others.committing).toBe(0)

  others.committed('ann', 5)
  others.committed('ben', 1)
  clock.nowMs = 150
  others.committed('ben', 2)
  expect(others.waiting).toBe(7)
  expect(others.committing).toBe(2)

  clock.nowMs = 201
  expect(others.waiting).toBe(2)
  clock.nowMs = 351
  expect(others.committing).toBe(0)
})

/** How many of 20 pairs of messages, sent just after a commit and two turns of the event loop apart, share a commit. */
async function countShared(areOthersCommitting: boolean): Promise<number> {
  await using database = await openRooms(1)
  await using node = await openActors(database.url)
  const room = database.rooms[0]!
  const write = () => send(node.apps, room, { text: 'hello' })
  let shared = 0
  for (let pair = 0; pair < 20; pair++) {
    if (areOthersCommitting) node.otherNodes.committed('another', 1)
    await Promise.all([write(), write(), write()])
    const before = node.commits.length
    const first = write()
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    await Promise.all([first, write()])
    if (node.commits.length === before + 1) shared++
  }
  return shared
}

test('commands gather for a moment after a commit while other nodes commit too, and only then', async () => {
  expect(await countShared(true)).toBeGreaterThan(10)
  expect(await countShared(false)).toBe(0)
})
