import { z } from 'zod'
import type { Bus } from '../../cluster/bus.ts'
import { every, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Apps } from '../apps.ts'
import type { EventTypes } from '../catch-up.ts'
import { packEvent, readAppMessage, unpackEvent, type AppMessage } from './app-message.ts'
import type { GlobalCommands } from '../global/global-commands.ts'
import type { SharedLog } from '../../log/shared-log.ts'
import { movedEveryMs, type OtherNodes } from './other-nodes.ts'
import type { Typing } from '../typing.ts'

interface ChangeBroadcastParts {
  bus: Bus
  /** This node's name on the bus. */
  node: string
  apps: Apps
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

/** A number of the sequence of ids and revs. */
const Id = z.int().nonnegative()

const MovedMessage = z.object({
  node: z.string(),
  /** The apps that the node has written to since its last message of this kind, as app, rev, app, rev, … */
  moved: z.array(Id),
  /** Commands that wait on the node. */
  waiting: z.int().nonnegative().optional(),
})
type MovedMessage = z.output<typeof MovedMessage>

/** Apps whose events a node needs. `isNew`: its first message, to which the other nodes respond with theirs. */
const FollowedMessage = z.object({ node: z.string(), apps: z.array(Id), isNew: z.boolean().optional() })
type FollowedMessage = z.output<typeof FollowedMessage>

/** The newest rev of the shared log. */
const SharedMessage = z.object({ rev: Id })

const environmentChannel = 'environment'
const movedChannel = 'moved'
const followedChannel = 'followed'
const channelOf = (app: number) => `app:${app}`

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
  const { bus, node, apps, otherNodes, globalCommands, sharedLog, typing, clock, signal } = parts
  const followed = new Map<number, () => void>()
  const announced = new Set<number>()
  /** App → the time until which another node counts as following it. */
  const wanted = new Map<number, number>()
  const written = new Map<number, number>()
  const listeners: MovedListener[] = []
  let isNew = true
  let isFromBus = false

  const failed = (error: unknown) => {
    if (!signal.aborted) parts.log.warn({ error }, 'Changes of other nodes could not be read; the next poll will')
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
    apps.remoteCommits.receive(app, events)
  }
  const onMoved = (message: MovedMessage) => {
    const moved: Moved[] = []
    for (let at = 0; at + 1 < message.moved.length; at += 2) {
      moved.push({ app: message.moved[at]!, rev: message.moved[at + 1]! })
    }
    if (message.node !== node) {
      otherNodes.committed(message.node, message.waiting ?? 0)
      for (const { app, rev } of moved)
        if (apps.remoteCommits.note(app, rev) && followed.has(app)) apps.remoteCommits.catchUpSoon(app)
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
    if (written.size === 0) clock.after(movedEveryMs, publishMoved)
    written.set(app, rev)
  }
  const publishMoved = () => {
    bus.publish(movedChannel, {
      node,
      moved: [...written].flat(),
      waiting: apps.waiting,
    } satisfies MovedMessage)
    written.clear()
  }

  apps.watch({
    onFollowed(app) {
      followed.set(
        app,
        bus.subscribe(channelOf(app), readAppMessage, message => onAppMessage(app, message)),
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
  bus.subscribe(environmentChannel, SharedMessage.parse, ({ rev }) => {
    void sharedLog.catchUpTo(rev).catch(failed)
  })
  bus.subscribe(movedChannel, MovedMessage.parse, onMoved)
  bus.subscribe(followedChannel, FollowedMessage.parse, onFollowed)
  every(clock, followedMs, signal, () => {
    announce(followed.keys())
    for (const [app, until] of wanted) if (until < clock.now()) wanted.delete(app)
  })
  announce([])
  return listener => void listeners.push(listener)
}
