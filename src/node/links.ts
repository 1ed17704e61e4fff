import { LocalBus } from '../cluster/bus-local.ts'
import { RedisBus } from '../cluster/bus-redis.ts'
import type { Bus } from '../cluster/bus.ts'
import type { Config } from '../config/config.ts'
import { revokeOnArrival } from '../engine/nodes/read-lease.ts'
import { broadcastChanges, type MovedListener } from '../engine/nodes/change-broadcast.ts'
import { Forwarding } from '../engine/nodes/forwarding.ts'
import type { Log } from '../lib/log.ts'
import { findDeployment } from '../log/shared-log.ts'
import type { Sql } from '../postgres/sql.ts'
import { gossipPresence } from '../presence/presence-gossip.ts'
import { eventTypes as events, forwardedCommands } from '../resources/index.ts'
import type { Base } from './base.ts'
import type { Engine } from './engine.ts'
import type { SharedState } from './shared-state.ts'
import type { Storage } from './storage.ts'

export interface Links {
  bus: Bus
  /** Commands that were sent to another node, since the start. */
  forwarded: () => number
  /** Adds a listener for the apps that were written to, on any node. It is called by the bus alone. */
  onMoved: (listener: MovedListener) => void
}

/** What nodes send each other. Without Redis there is no other node to send to: jobs look for what others have done. */
export async function linkNodes(parts: Base & Storage & SharedState & Engine): Promise<Links> {
  const { config, sql, log, node, apps, lastWriters, readLease, presence, clock, metrics, teardown } = parts
  const bus = await openBus(config, sql, log)
  teardown.add('bus', () => bus.close())
  if (!bus.reachesOtherNodes) return { bus, forwarded: () => 0, onMoved: () => {} }

  metrics.gauge('parley_bus_connected', 'Whether Redis can be used: 1 or 0.', () => (bus.isConnected ? 1 : 0))
  revokeOnArrival(readLease, bus, node)
  const leaving = new AbortController()
  const { signal } = leaving
  teardown.add('what nodes tell each other', () => leaving.abort())
  const forwarding = new Forwarding({ bus, node, apps, lastWriters, commands: forwardedCommands, clock })
  const forwarded = () => forwarding.forwarded
  apps.forwardTo(forwarding)
  teardown.add('commands of other nodes', () => forwarding.stop())
  metrics.counter('parley_commands_forwarded_total', 'Commands that were sent to another node.', forwarded)
  const onMoved = broadcastChanges({ ...parts, bus, events, signal })
  gossipPresence({ bus, presence, clock, signal })
  return { bus, forwarded, onMoved }
}

async function openBus({ redisUrl, redisIsCluster: isCluster }: Config, sql: Sql, log: Log): Promise<Bus> {
  if (redisUrl === null) return new LocalBus()
  return RedisBus.connect({ url: redisUrl.reveal(), isCluster, deployment: await findDeployment(sql), log })
}
