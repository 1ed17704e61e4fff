import { openCommitConnection } from '../engine/commit/connection.ts'
import { Apps } from '../engine/apps.ts'
import { OtherNodes } from '../engine/nodes/other-nodes.ts'
import { ReadLease } from '../engine/nodes/read-lease.ts'
import { Typing } from '../engine/typing.ts'
import { Presence } from '../presence/presence.ts'
import { eventTypes as events, recent } from '../resources/index.ts'
import { toBacklog } from '../resources/notifications/processing/consumer.ts'
import { followWithSubscriptions } from '../resources/subscriptions/automatic.ts'
import type { Base } from './base.ts'
import type { SharedState } from './shared-state.ts'
import { commitsApart, type Storage } from './storage.ts'

/** Commands in one commit. A guess: beyond it, those who came first would wait for those who came last. */
const flushLimit = 1000

/**
 * How long a read marker waits to share the commit of a message. With 200 messages and as many markers a second, most find
 * one, and a marker that moves so much later is not seen to. A guess.
 */
const sharingMs = 10

export type Engine = ReturnType<typeof openEngine>

/** The actors of apps, the connections that they commit on, and who is active and typing. */
export function openEngine(parts: Base & Storage & SharedState) {
  const { config, url, epoch, registrations, triggers, globalCommands, credentials, clock, metrics, teardown } = parts
  const connections = Array.from({ length: config.commitLanes + commitsApart }, () =>
    openCommitConnection(url, epoch.admission),
  )
  teardown.add('commit connections', async () => {
    await Promise.all(connections.map(connection => connection.close()))
  })
  const otherNodes = new OtherNodes(() => performance.now())
  const readLease = new ReadLease(() => performance.now())
  const apps = new Apps({
    ...parts,
    events,
    projections: [registrations.toDeliveries, followWithSubscriptions, toBacklog, triggers.toWrites],
    recent,
    groupConnections: connections.slice(commitsApart),
    apartConnections: connections.slice(0, commitsApart),
    flushLimit,
    sharingMs,
    mailboxLimit: config.mailboxLimit,
    totalLimit: config.mailboxTotal,
    otherNodes,
    isShared: () => config.redisUrl !== null && !readLease.isHeld,
    memoryBytes: config.actorMemoryMb * 1024 * 1024,
    observe: metrics.observeCommit,
    observeTime: ms => metrics.commitTimes.observe(ms / 1000),
  })
  globalCommands.onAppCreated(created => apps.adopt(created))
  teardown.add('mailboxes', () => apps.idle())

  const collisions = () => connections.reduce((sum, { collisions }) => sum + collisions, 0)
  const met = 'Commits that met commits of other nodes.'
  metrics.counter('parley_commit_conflicts_total', met, collisions)
  metrics.gauge('parley_mailbox_commands', 'Commands that wait or are being committed.', () => apps.waiting)
  metrics.gauge('parley_apps', 'Apps in memory.', () => apps.size)

  const typing = new Typing(clock)
  apps.onCommit(typing.onCommit)
  const presence = new Presence({ seen: credentials.seenAt, clock })
  return { apps, otherNodes, readLease, collisions, typing, presence }
}
