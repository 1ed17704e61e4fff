import { LocalBus } from '../cluster/bus-local.ts'
import { RedisBus } from '../cluster/bus-redis.ts'
import type { Bus } from '../cluster/bus.ts'
import type { Config } from '../config/config.ts'
import { revokeOnArrival } from '../engine/nodes/read-lease.ts'
import { broadcastChanges, type MovedListener } from '../engine/nodes/change-broadcast.ts'
import type { Log } from '../lib/log.ts'
import { listOwnMigrations } from '../postgres/migrate.ts'
import { gossipPresence } from '../presence/presence-gossip.ts'
import { eventTypes as events } from '../resources/index.ts'
import type { Base } from './base.ts'
import type { Engine } from './engine.ts'
import type { SharedState } from './shared-state.ts'
import type { Storage } from './storage.ts'

export interface Links {
  bus: Bus
  /** Adds a listener for the apps that were written to, on any node. It is called by the bus alone. */
  onMoved: (listener: MovedListener) => void
}

/**
 * The version of what nodes send each other; to be raised where a message changes. Events contain rows of the database,
 * so the number of migrations counts as well.
 */
const messagesVersion = 2

/** What nodes send each other. Without Redis there is no other node to send to: jobs look for what others have done. */
export async function linkNodes(parts: Base & Storage & SharedState & Engine): Promise<Links> {
  const { config, epoch, log, node, readLease, presence, clock, metrics, teardown } = parts
  const bus = await openBus(config, epoch.id, log)
  teardown.add('bus', () => bus.close())
  if (!bus.reachesOtherNodes) return { bus, onMoved: () => {} }

  metrics.gauge('parley_bus_connected', 'Whether Redis can be used: 1 or 0.', () => (bus.isConnected ? 1 : 0))
  revokeOnArrival(readLease, bus, node)
  const leaving = new AbortController()
  const { signal } = leaving
  teardown.add('what nodes tell each other', () => leaving.abort())
  const onMoved = broadcastChanges({ ...parts, bus, events, signal })
  gossipPresence({ bus, presence, clock, signal })
  return { bus, onMoved }
}

/** Its channels are named after the epoch: a node hears nothing of what nodes do that know another history of the database. */
async function openBus({ redisUrl, redisIsCluster: isCluster }: Config, epoch: string, log: Log): Promise<Bus> {
  if (redisUrl === null) return new LocalBus(log)
  const version = `${messagesVersion}.${listOwnMigrations().size}`
  return RedisBus.connect({ url: redisUrl.reveal(), isCluster, deployment: epoch, version, log })
}
