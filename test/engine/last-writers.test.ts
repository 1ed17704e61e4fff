import { expect, test } from 'vitest'
import { LastWriters } from '../../src/engine/nodes/last-writers.ts'

function createLastWriters() {
  const clock = { nowMs: 0 }
  return { clock, writers: new LastWriters(() => clock.nowMs) }
}

test('the node with the largest rev of an app was the last to write, in whatever order that is heard', () => {
  const { writers } = createLastWriters()
  writers.wrote(1, 20, 'ann')
  writers.wrote(1, 10, 'ben')
  expect(writers.find(1)).toBe('ann')

  writers.wrote(1, 30, 'ben')
  expect(writers.find(1)).toBe('ben')
  expect(writers.find(2)).toBeNull()
})

test('a node that was the last to write itself has nobody to ask', () => {
  const { writers } = createLastWriters()
  writers.wrote(1, 10, 'ann')
  writers.wrote(1, 20, null)
  writers.wrote(1, 15, 'ann')

  expect(writers.find(1)).toBeNull()
})

test('who wrote some seconds ago counts no more, and who was silent for some seconds counts again', () => {
  const { clock, writers } = createLastWriters()
  writers.wrote(1, 10, 'ann')
  clock.nowMs = 2_000
  expect(writers.find(1)).toBe('ann')
  clock.nowMs = 2_001
  expect(writers.find(1)).toBeNull()

  writers.wrote(1, 20, 'ann')
  writers.silence('ann')
  expect(writers.find(1)).toBeNull()
  clock.nowMs += 5_000
  writers.wrote(1, 30, 'ann')
  expect(writers.find(1)).toBe('ann')
})
