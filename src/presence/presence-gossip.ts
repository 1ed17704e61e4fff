import { randomUUID } from 'node:crypto'
import type { Bus } from '../cluster/bus.ts'
import { every, type Clock } from '../lib/clock.ts'
import type { Presence } from './presence.ts'

interface PresenceGossipParts {
  bus: Bus
  presence: Presence
  clock: Clock
  signal: AbortSignal
}

/** Who came and went on a node since its last news; the first ones of a node, and some later ones, say everything. */
interface PresenceGossip {
  node: string
  isWhole: boolean
  /** The node is stopping: there are no more news of it. */
  isLast?: boolean
  came: number[]
  went: number[]
}

const channel = 'presence'

const newsMs = 1_000

/** Every so many messages a node sends everything, for nodes that have missed something. */
const wholeEvery = 15

/** A node that has said nothing for as long is gone. */
const silentMs = 40_000

/** The people of a node that stops have time to come back on another one. */
const partingMs = 5_000

/** Exchanges with the other nodes who is active, until `signal` aborts; then it tells them that this node is going. */
export function gossipPresence({ bus, presence, clock, signal }: PresenceGossipParts): void {
  const node = randomUUID()
  const others = new Map<string, { users: Set<number>; endsAt: number }>()
  let told = new Set<number>()
  let round = 0

  const tell = () => {
    const active = presence.activeHere()
    const isWhole = round++ % wholeEvery === 0
    const came = isWhole ? [...active] : [...active].filter(user => !told.has(user))
    const went = isWhole ? [] : [...told].filter(user => !active.has(user))
    told = active
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
  const hear = (news: PresenceGossip) => {
    if (news.node === node) return
    const known = others.get(news.node)
    // Part of the news of a node makes no sense without the rest; it will soon say everything.
    if (known === undefined && !news.isWhole) return
    if (known !== undefined && news.isLast) {
      known.endsAt = clock.now() + partingMs
      return
    }
    // A new node: it wants to know who is here as soon as we want to know who is there.
    if (known === undefined) round = 0
    const users = new Set(news.isWhole ? [] : known?.users)
    for (const user of news.came) users.add(user)
    for (const user of news.went) users.delete(user)
    others.set(news.node, { users, endsAt: clock.now() + silentMs })
    presence.onGossip(news.node, users)
  }

  const end = bus.subscribe(channel, news => hear(news as PresenceGossip))
  const leave = () => {
    bus.publish(channel, { node, isWhole: false, isLast: true, came: [], went: [] } satisfies PresenceGossip)
    end()
  }
  signal.addEventListener('abort', leave, { once: true })
  every(clock, newsMs, signal, tell)
}
