import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Presence } from '../../src/presence/presence.ts'
import { gossipPresence } from '../../src/presence/presence-gossip.ts'
import type { Bus } from '../../src/cluster/bus.ts'
import { ManualClock } from '../support/manual-clock.ts'

type Hear = (message: unknown) => void

/** Nodes that hear each other at once, and lose what they say while a test wants it: a bus promises no more. */
function openNodes() {
  const clock = new ManualClock()
  const listeners = new Set<Hear>()
  const said: unknown[] = []
  const air = { isDead: false, said, clock }
  const start = () => {
    const bus: Bus = {
      reachesOtherNodes: true,
      isConnected: true,
      publish(_, message) {
        if (air.isDead) return
        said.push(message)
        for (const hear of listeners) hear(JSON.parse(JSON.stringify(message)))
      },
      subscribe(_, read, listener) {
        const hear = (message: unknown) => {
          const known = read(message)
          if (known !== null) listener(known)
        }
        listeners.add(hear)
        return () => listeners.delete(hear)
      },
      async close() {},
    }
    const presence = new Presence({ seen: new Map(), clock })
    const living = new AbortController()
    gossipPresence({ bus, presence, clock, signal: living.signal })
    return Object.assign(presence, { stop: () => living.abort() })
  }
  /** Lets so many seconds pass, one after the other. */
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      clock.advance(1_000)
      await nextTurn()
    }
  }
  return { air, start, pass }
}

const activeOn = (node: Presence) => [...node.active()].sort()

test('a node that starts knows within a second who is on the others, and they who is on it', async () => {
  const { start, pass } = openNodes()
  const first = start()
  first.arrive(1)
  await pass(5)

  const second = start()
  second.arrive(2)
  await pass(2)

  expect([activeOn(first), activeOn(second)]).toEqual([
    [1, 2],
    [1, 2],
  ])
})

test('who comes and goes is known on the others within a second', async () => {
  const { start, pass } = openNodes()
  const [first, second] = [start(), start()]
  await pass(3)
  first.arrive(1)
  await pass(1)
  const come = activeOn(second)
  first.leave(1)
  await pass(5)
  const leaving = activeOn(second)
  await pass(1)

  expect([come, leaving, activeOn(second)]).toEqual([[1], [1], []])
})

test('news that were lost are made up for within fifteen seconds', async () => {
  const { air, start, pass } = openNodes()
  const [first, second] = [start(), start()]
  first.arrive(1)
  await pass(3)
  air.isDead = true
  first.leave(1)
  first.arrive(2)
  await pass(7)
  air.isDead = false
  const before = activeOn(second)
  await pass(15)

  expect([before, activeOn(second)]).toEqual([[1], [2]])
})

test('of a node that is not known, nothing counts before it has said everything', async () => {
  const { air, start, pass } = openNodes()
  const first = start()
  await pass(2)
  first.arrive(1)
  air.isDead = true
  await pass(1)
  air.isDead = false
  const second = start()
  first.arrive(2)
  // Ahead of its first own news, it hears a part of those of the other.
  const heard: number[][] = []
  for (let i = 0; i < 15; i++) {
    await pass(1)
    heard.push(activeOn(second))
  }

  expect(heard).not.toContainEqual([2])
  expect(heard.at(-1)).toEqual([1, 2])
})

test('where nobody comes or goes, nodes say something a few times a minute only', async () => {
  const { air, start, pass } = openNodes()
  start().arrive(1)
  start()
  await pass(5)
  air.said.length = 0

  await pass(60)

  expect(air.said).toHaveLength(8)
})

test('whoever is on a node for longer than silence takes stays active on the others', async () => {
  const { start, pass } = openNodes()
  const [first, second] = [start(), start()]
  first.arrive(1)

  await pass(300)

  expect(activeOn(second)).toEqual([1])
})

test('a node that starts again has said everything to those who knew it', async () => {
  const { start, pass } = openNodes()
  const [first, second] = [start(), start()]
  first.arrive(1)
  await pass(3)

  first.stop()
  const next = start()
  next.arrive(2)
  await pass(8)

  expect(activeOn(second)).toEqual([2])
})
