import type { Bus } from '../../cluster/bus.ts'
import { every, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Apps } from '../apps.ts'
import type { EventTypes } from '../catch-up.ts'
import { unknownEvent, type AppEvent } from '../event.ts'
import type { GlobalCommands } from '../global/global-commands.ts'
import type { SharedLog } from '../../log/shared-log.ts'
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
  /** Aborted when this node stops. Later failures to read changes are not logged. */
  signal: AbortSignal
}

/** An app with the newest rev that a node has committed to it. */
export interface Moved {
  app: number
  rev: number
}

/** Called with the apps that a node, perhaps this one, has written to. */
export type MovedListener = (moved: readonly Moved[], node: string) => void

/** A message on the channel of an app: the events of a commit, or a user who is typing. */
type AppMessage = { node: string; events: PackedEvent[] } | { node: string; user: number }

/** An event as nodes send it to each other, in plain values. Its app is known from the channel. */
type PackedEvent = [
  type: string,
  rev: number,
  prev: number,
  actor: number,
  entity: number,
  facts: Record<string, unknown> | null,
  createdAt: Date,
  body: unknown,
]

/** The apps that a node has written to since its last message of this kind, as app, rev, app, rev, … */
interface MovedMessage {
  node: string
  moved: number[]
  /** The apps among them that only clients of other nodes write to through this node. */
  forOthers?: number[]
  /** Commands that wait on the node. */
  waiting?: number
}

/** Apps whose events a node needs. `isNew`: its first message, to which the other nodes respond with theirs. */
interface FollowedMessage {
  node: string
  apps: number[]
  isNew?: boolean
}

const environmentChannel = 'environment'
const movedChannel = 'moved'
const followedChannel = 'followed'
const channelOf = (app: number) => `app:${app}`

/** The time between two messages about written apps. A guess: other nodes read such an app on its next use anyway. */
const gatherMs = 50

/** How often a node repeats the apps that it follows, and how long such a message counts: one may get lost. */
const followedMs = 5_000
const followedUntilMs = 12_000

/**
 * Broadcasts changes to other nodes. The events of a commit are published on the app's channel, if a node has announced
 * that its clients are subscribed to the app; its actor applies them without a query. Each node also publishes the ids
 * of all apps that it has written to, several in one message; the next use of such an app on another node reads its new
 * events. Only latency depends on these messages: the poll finds within a second what a lost one would have announced.
 *
 * Returns a function that adds a listener for the apps that any node has written to.
 */
export function broadcastChanges(parts: ChangeBroadcastParts): (listener: MovedListener) => void {
  const { bus, node, apps, lastWriters, otherNodes, globalCommands, sharedLog, typing, clock, signal } = parts
  const followed = new Map<number, () => void>()
  const announced = new Set<number>()
  /** App → the time until which another node counts as following it. */
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
    await apps.remoteCommits.catchUp(some)
  }
  /** Reads apps that were announced in one turn of the event loop with one query. */
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
      // For the sessions of this node alone: a report from the bus is not published there again.
      isFromBus = true
      typing.start(app, message.user)
      isFromBus = false
      return
    }
    const events = message.events.map(event => unpackEvent(app, event, parts.events))
    if (!apps.remoteCommits.receive(app, events)) readSoon(app)
  }
  const onMoved = (message: MovedMessage) => {
    const moved: Moved[] = []
    for (let at = 0; at + 1 < message.moved.length; at += 2) {
      moved.push({ app: message.moved[at]!, rev: message.moved[at + 1]! })
    }
    const forOthers = new Set(message.forOthers)
    for (const { app } of moved) {
      if (forOthers.has(app)) lastWriters.recordHandover(app, message.node)
      else lastWriters.recordWrite(app, message.node)
    }
    lastWriters.recordWaiting(message.node, message.waiting ?? 0)
    if (message.node !== node) {
      otherNodes.committed(message.node, message.waiting ?? 0)
      for (const { app, rev } of moved) if (apps.remoteCommits.note(app, rev) && followed.has(app)) readSoon(app)
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

function packEvent({ type, rev, prev, actor_id, entity_id, facts, created_at, body }: AppEvent): PackedEvent {
  return [type, rev, prev, actor_id, entity_id, facts, created_at, body]
}

/** Restores an event that another node has sent. One of an unknown type is `unknownEvent`, without a body. */
function unpackEvent(
  app_id: number,
  [type, rev, prev, actor_id, entity_id, facts, created_at, body]: PackedEvent,
  types: EventTypes,
): AppEvent {
  const kind = types.get(type)
  const row = { app_id, rev, prev, type, actor_id, entity_id, facts, created_at }
  return kind === undefined ? { ...row, kind: unknownEvent, body: null } : { ...row, kind, body }
}
