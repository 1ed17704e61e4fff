import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Bus } from '../cluster/bus.ts'
import { every, type Clock } from '../lib/clock.ts'
import type { Presence } from './presence.ts'

interface PresenceGossipParts {
  bus: Bus
  presence: Presence
  clock: Clock
  signal: AbortSignal
}

/**
 * A node's changes of who is active since its last message. The first message of a node, and some later ones, list all
 * its users.
 */
const PresenceGossip = z.object({
  node: z.string(),
  isWhole: z.boolean(),
  /** The node is stopping: this is its last message. */
  isLast: z.boolean().optional(),
  came: z.array(z.int()),
  went: z.array(z.int()),
})
type PresenceGossip = z.output<typeof PresenceGossip>

const channel = 'presence'

const gossipMs = 1_000

/** Every so many messages a node lists all its users, for nodes that have missed a message. */
const wholeEvery = 15

/** A node that has been silent for this long is gone. */
const silenceMs = 40_000

/** Users of a stopping node have this long to reconnect to another one. */
const stopGraceMs = 5_000

/**
 * Exchanges with the other nodes which users are active, until `signal` aborts; then announces that this node stops.
 */
export function gossipPresence({ bus, presence, clock, signal }: PresenceGossipParts): void {
  const node = randomUUID()
  const others = new Map<string, { users: Set<number>; endsAt: number }>()
  let published = new Set<number>()
  let round = 0

  const publishChanges = () => {
    const active = presence.activeHere()
    const isWhole = round++ % wholeEvery === 0
    const came = isWhole ? [...active] : [...active].filter(user => !published.has(user))
    const went = isWhole ? [] : [...published].filter(user => !active.has(user))
    published = active
    if (isWhole || came.length + went.length > 0) {
      bus.publish(channel, { node, isWhole, came, went } satisfies PresenceGossip)
    }
    forgetSilent()
  }
  const forgetSilent = () => {
    for (const [other, { endsAt }] of others) {
      if (clock.now() <= endsAt) continue
      others.delete(other)
      presence.onGossip(other, null)
    }
  }
  const onMessage = (message: PresenceGossip) => {
    if (message.node === node) return
    const known = others.get(message.node)
    // Changes of an unknown node say nothing without its whole list, which will follow soon.
    if (known === undefined && !message.isWhole) return
    if (known !== undefined && message.isLast) {
      known.endsAt = clock.now() + stopGraceMs
      return
    }
    // A new node needs the whole list of this one as soon as possible.
    if (known === undefined) round = 0
    const users = new Set(message.isWhole ? [] : known?.users)
    for (const user of message.came) users.add(user)
    for (const user of message.went) users.delete(user)
    others.set(message.node, { users, endsAt: clock.now() + silenceMs })
    presence.onGossip(message.node, users)
  }

  const end = bus.subscribe(channel, PresenceGossip.parse, onMessage)
  const announceStop = () => {
    bus.publish(channel, { node, isWhole: false, isLast: true, came: [], went: [] } satisfies PresenceGossip)
    end()
  }
  signal.addEventListener('abort', announceStop, { once: true })
  every(clock, gossipMs, signal, publishChanges)
}
