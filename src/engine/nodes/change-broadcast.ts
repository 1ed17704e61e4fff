import type { Bus } from '../../cluster/bus.ts'
import { every, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Apps } from '../apps.ts'
import type { EventTypes } from '../catch-up.ts'
import type { GlobalCommands } from '../global-commands.ts'
import type { SharedLog } from '../../log/shared-log.ts'
import { packEvent, unpackEvent, type PackedEvent } from './packed-event.ts'
import type { LastWriters } from './last-writers.ts'
import type { OtherNodes } from './other-nodes.ts'
import type { Typing } from '../typing.ts'

interface ChangeBroadcastParts {
  bus: Bus
  /** This node's name on the bus. */
  node: string
  apps: Apps
  lastWriters: LastWriters
  otherNodes: OtherNodes
  globalCommands: GlobalCommands
  sharedLog: SharedLog
  events: EventTypes
  typing: Typing
  clock: Clock
  log: Log
  /** Aborted when this node stops: from then on it need not read changes. */
  signal: AbortSignal
}

/** An app, and the newest rev that a node has committed to it. */
export interface Moved {
  app: number
  rev: number
}

/** Called with the apps that a node has written to, this one included. */
export type MovedListener = (moved: readonly Moved[], node: string) => void

/** On the channel of an app. */
type AppMessage = { node: string; events: PackedEvent[] } | { node: string; user: number }

/** Which apps a node has written to lately, as app, rev, app, rev, … */
interface MovedMessage {
  node: string
  moved: number[]
  /** The apps among them that the node writes to for clients of other nodes alone. */
  forOthers?: number[]
  /** Commands that wait on the node. */
  waiting?: number
}

/** Apps whose events a node wants. The first message of a node asks the others for all of theirs. */
interface FollowedMessage {
  node: string
  apps: number[]
  isNew?: boolean
}

const environmentChannel = 'environment'
const movedChannel = 'moved'
const followedChannel = 'followed'
const channelOf = (app: number) => `app:${app}`

/**
 * How long the apps that a node writes to are gathered. A guess: the others' next use of them reads what is new anyway.
 */
const gatherMs = 50

/** How often a node repeats which apps it follows, and how long that counts: one message may get lost. */
const followedMs = 5_000
const followedUntilMs = 12_000

/**
 * Makes changes travel fast between nodes. The events of a commit go to the app's channel, if a node has said that its
 * clients are subscribed to the app; that node's memory applies them as they are and asks PostgreSQL nothing. Each node
 * sends all others the names of the apps that it has written to, many at once: they note them, and the next use of such
 * an app reads what is new. Nothing depends on it: what gets lost is found by the poll a second later.
 *
 * Returns a function that adds a listener for the apps that were written to, on any node.
 */
export function broadcastChanges(parts: ChangeBroadcastParts): (listener: MovedListener) => void {
  const { bus, node, apps, lastWriters, otherNodes, globalCommands, sharedLog, typing, clock, signal } = parts
  const followed = new Map<number, () => void>()
  const announced = new Set<number>()
  /** App → until when another node counts as following it. */
  const wanted = new Map<number, number>()
  const written = new Map<number, number>()
  const behind = new Set<number>()
  const listeners: MovedListener[] = []
  let isNew = true
  let isFromBus = false

  const failed = (error: unknown) => {
    if (!signal.aborted) parts.log.warn({ error }, 'Changes of other nodes could not be read; the next poll will')
  }
  const readBehind = async () => {
    const some = [...behind]
    behind.clear()
    await apps.catchUp(some)
  }
  /** What arrives in one turn of the event loop is read together. */
  const readSoon = (app: number) => {
    if (behind.size === 0) setImmediate(() => void readBehind().catch(failed))
    behind.add(app)
  }
  const announce = (some: Iterable<number>) => {
    bus.publish(followedChannel, { node, apps: [...some], ...(isNew && { isNew }) } satisfies FollowedMessage)
    isNew = false
  }
  const announceGathered = () => {
    announce(announced)
    announced.clear()
  }
  const onAppMessage = (app: number, message: AppMessage) => {
    if (message.node === node) return
    if ('user' in message) {
      // Said again here, for the sessions of this node, and not passed on: it came from the bus.
      isFromBus = true
      typing.start(app, message.user)
      isFromBus = false
      return
    }
    const events = message.events.map(event => unpackEvent(app, event, parts.events))
    if (!apps.receive(app, events)) readSoon(app)
  }
  const onMoved = (message: MovedMessage) => {
    const moved: Moved[] = []
    for (let at = 0; at + 1 < message.moved.length; at += 2) {
      moved.push({ app: message.moved[at]!, rev: message.moved[at + 1]! })
    }
    const forOthers = new Set(message.forOthers)
    for (const { app } of moved) {
      if (forOthers.has(app)) lastWriters.leaves(app, message.node)
      else lastWriters.wrote(app, message.node)
    }
    if (message.node !== node) {
      otherNodes.said(message.node, message.waiting ?? 0)
      for (const { app, rev } of moved) if (apps.note(app, rev) && followed.has(app)) readSoon(app)
    }
    for (const listener of listeners) listener(moved, message.node)
  }
  const onFollowed = (message: FollowedMessage) => {
    if (message.node === node) return
    const until = clock.now() + followedUntilMs
    for (const app of message.apps) wanted.set(app, until)
    if (message.isNew) announce(followed.keys())
  }
  const announceMoved = (app: number, rev: number) => {
    if (written.size === 0) clock.after(gatherMs, publishMoved)
    written.set(app, rev)
  }
  const publishMoved = () => {
    bus.publish(movedChannel, {
      node,
      moved: [...written].flat(),
      forOthers: [...written.keys()].filter(app => lastWriters.isForOthers(app)),
      waiting: apps.waiting,
    } satisfies MovedMessage)
    written.clear()
  }

  apps.watch({
    onFollowed(app) {
      followed.set(
        app,
        bus.subscribe(channelOf(app), message => onAppMessage(app, message as AppMessage)),
      )
      if (announced.size === 0) setImmediate(announceGathered)
      announced.add(app)
    },
    onUnfollowed(app) {
      followed.get(app)?.()
      followed.delete(app)
    },
    onCommitted(events) {
      const { app_id, rev } = events.at(-1)!
      announceMoved(app_id, rev)
      if (wanted.has(app_id))
        bus.publish(channelOf(app_id), { node, events: events.map(packEvent) } satisfies AppMessage)
    },
  })
  typing.onTyping((app, user, isTyping) => {
    if (isTyping && !isFromBus) bus.publish(channelOf(app), { node, user } satisfies AppMessage)
  })
  globalCommands.onFirstEvent(({ app_id, rev }) => announceMoved(app_id, rev))
  globalCommands.onSharedRev(rev => bus.publish(environmentChannel, { rev }))
  bus.subscribe(environmentChannel, message => {
    void sharedLog.catchUpTo((message as { rev: number }).rev).catch(failed)
  })
  bus.subscribe(movedChannel, message => onMoved(message as MovedMessage))
  bus.subscribe(followedChannel, message => onFollowed(message as FollowedMessage))
  every(clock, followedMs, signal, () => {
    announce(followed.keys())
    for (const [app, until] of wanted) if (until < clock.now()) wanted.delete(app)
  })
  announce([])
  return listener => void listeners.push(listener)
}
