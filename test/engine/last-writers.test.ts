import { beforeEach, describe, expect, test } from 'vitest'
import { LastWriters } from '../../src/engine/nodes/last-writers.ts'

/** What each of some nodes knows, on one clock. */
function createNodes<Name extends string>(...names: Name[]) {
  const clock = { nowMs: 0 }
  const nodes = Object.fromEntries(names.map(name => [name, new LastWriters(name, () => clock.nowMs)]))
  return { clock, nodes: nodes as Record<Name, LastWriters> }
}

test('the one node that writes to an app is to write to it again', () => {
  const { nodes } = createNodes('ann', 'ben')
  for (const node of Object.values(nodes)) node.recordWrite(1, 'ann')

  expect(nodes.ben.find(1)).toBe('ann')
  expect(nodes.ann.find(1)).toBeNull()
  expect(nodes.ben.find(2)).toBeNull()
})

describe('of several nodes that write to an app all prefer the same one, in whatever order they hear of it', () => {
  const names = ['ann', 'ben', 'cid'] as const
  let { clock, nodes } = createNodes(...names)
  beforeEach(() => {
    ;({ clock, nodes } = createNodes(...names))
  })

  /** Three nodes write to 300 apps; how many each is to write to. */
  function countChoices(): Record<string, number> {
    const chosen = Array.from({ length: 300 }, (_, app) => {
      names.forEach((name, at) => {
        for (const writer of [...names.slice(at), ...names.slice(0, at)]) nodes[name].recordWrite(app, writer)
      })
      const found = names.map(name => nodes[name].find(app) ?? name)
      expect(new Set(found).size).toBe(1)
      return found[0]!
    })
    return Object.fromEntries(names.map(name => [name, chosen.filter(one => one === name).length]))
  }

  function recordWaiting(node: string, commands: number) {
    for (const name of names) nodes[name].recordWaiting(node, commands)
  }

  test('the same for all apps, so that their commands share commits', () => {
    for (const name of names) recordWaiting(name, 500)

    expect(Object.values(countChoices()).sort()).toEqual([0, 0, 300])
  })

  test('another one for half a minute where many commands wait on it', () => {
    const isFirst = (name: string) => countChoices()[name] === 300
    const [first] = names.filter(isFirst)
    recordWaiting(first!, 501)
    expect(isFirst(first!)).toBe(false)
    expect(Object.values(countChoices()).sort()).toEqual([0, 0, 300])

    clock.nowMs = 30_000
    expect(isFirst(first!)).toBe(true)
  })

  test('each for its share of the apps where many wait on all', () => {
    for (const name of names) recordWaiting(name, 501)

    for (const count of Object.values(countChoices())) expect(count).toBeGreaterThan(70)
  })
})

test('a node that writes to an app for the clients of others alone leaves it to them after two seconds', () => {
  const { clock, nodes } = createNodes('ann', 'ben')
  nodes.ben.recordWrite(1, 'ann')
  nodes.ann.recordForwarded(1)
  clock.nowMs = 2_000
  expect(nodes.ann.isForOthers(1)).toBe(false)
  clock.nowMs = 2_001
  nodes.ann.recordForwarded(1)
  expect(nodes.ann.isForOthers(1)).toBe(true)

  nodes.ben.recordWrite(1, 'ann')
  nodes.ben.recordHandover(1, 'ann')
  expect(nodes.ben.find(1)).toBeNull()

  nodes.ann.recordOwnUse(1)
  expect(nodes.ann.isForOthers(1)).toBe(false)
})

test('what only clients of this node write to is not written for others', () => {
  const { clock, nodes } = createNodes('ann')
  nodes.ann.recordOwnUse(1)
  clock.nowMs = 10_000
  expect(nodes.ann.isForOthers(1)).toBe(false)
})

test('a node that wrote some seconds ago counts no more, and one that was silent for some seconds counts again', () => {
  const { clock, nodes } = createNodes('ann', 'ben')
  nodes.ben.recordWrite(1, 'ann')
  clock.nowMs = 2_000
  expect(nodes.ben.find(1)).toBe('ann')
  clock.nowMs = 2_001
  expect(nodes.ben.find(1)).toBeNull()

  nodes.ben.recordWrite(1, 'ann')
  nodes.ben.suspend('ann')
  expect(nodes.ben.find(1)).toBeNull()
  clock.nowMs += 5_000
  nodes.ben.recordWrite(1, 'ann')
  expect(nodes.ben.find(1)).toBe('ann')
})

test('nodes may disagree for a second after another one has begun to write, or was given up', () => {
  const { clock, nodes } = createNodes('ann', 'ben')
  const { ben } = nodes
  clock.nowMs = 60_000
  ben.recordWrite(1, 'ben')
  expect(ben.isUnsettled).toBe(false)

  ben.recordWrite(1, 'ann')
  expect(ben.isUnsettled).toBe(true)
  clock.nowMs += 1_000
  expect(ben.isUnsettled).toBe(false)

  ben.recordWrite(2, 'ann')
  expect(ben.isUnsettled).toBe(false)
  clock.nowMs += 2_001
  ben.recordWrite(2, 'ann')
  expect(ben.isUnsettled).toBe(true)

  clock.nowMs += 1_000
  ben.suspend('ann')
  expect(ben.isUnsettled).toBe(true)
})
