import { expect, test } from 'vitest'
import { Drafts } from '../../src/client/collections/drafts.ts'

const delta = (n: number, text: string, run_id = 1) => ({ type: 'agent_delta' as const, app_id: 1, run_id, n, text })

test('deltas add up to a draft, and one with the number 0 begins it anew', () => {
  const drafts = new Drafts()

  const shown = [delta(0, 'Let'), delta(1, ' me'), delta(0, 'It is'), delta(1, ' sent')].map(one => drafts.add(one))

  expect(shown).toEqual(['Let', 'Let me', 'It is', 'It is sent'])
})

test('a draft with a gap is hidden once, and shown again from its next beginning', () => {
  const drafts = new Drafts()

  const shown = [delta(0, 'a'), delta(2, 'c'), delta(3, 'd'), delta(0, 'x'), delta(1, 'y')].map(one => drafts.add(one))

  expect(shown).toEqual(['a', '', null, 'x', 'xy'])
})

test('a draft that was begun before anybody listened is not shown', () => {
  expect(new Drafts().add(delta(4, 'the end'))).toBeNull()
})

test('drafts of several runs do not mix, and those that are shown are named when the connection is lost', () => {
  const drafts = new Drafts()
  drafts.add(delta(0, 'one', 1))
  drafts.add(delta(0, 'two', 2))
  drafts.add(delta(0, 'three', 3))
  drafts.end(2)

  expect(drafts.add(delta(1, '!', 3))).toBe('three!')
  expect(drafts.clear()).toEqual([1, 3])
  expect(drafts.add(delta(1, '!', 1))).toBeNull()
})

test('what is kept of drafts is bounded', () => {
  const drafts = new Drafts()
  for (let run = 1; run <= 150; run++) drafts.add(delta(0, 'x', run))

  expect(drafts.clear()).toHaveLength(100)
})
