import { randomUUID } from 'node:crypto'
import { broadcastChanges } from '../../src/engine/nodes/change-broadcast.ts'
import { GlobalCommands } from '../../src/engine/global/global-commands.ts'
import { Typing } from '../../src/engine/typing.ts'
import { RedisBus } from '../../src/cluster/bus-redis.ts'
import { systemClock as clock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { eventTypes } from '../../src/resources/index.ts'
import { openActors, type Actors } from './actors.ts'

export interface ClusterNode extends Actors {
  bus: RedisBus
  /** Resolves when the node has heard that another one has written to an app. */
  hearsOf(app: number): Promise<void>
}

/** The actors of one of several nodes, which talk over Redis. */
export async function openClusterNode(databaseUrl: string, redisUrl: string): Promise<ClusterNode> {
  const actors = await openActors(databaseUrl)
  const { apps, otherNodes, sharedLog, sql } = actors
  const log = createLog('error')
  const bus = await RedisBus.connect({ url: redisUrl, isCluster: false, deployment: 'test', version: '1', log })
  const node = randomUUID()
  const talking = new AbortController()
  const heard = new Map<number, () => void>()
  const onMoved = broadcastChanges({
    bus,
    node,
    apps,
    otherNodes,
    globalCommands: new GlobalCommands(sql, sharedLog, () => new Date()),
    sharedLog,
    events: eventTypes,
    typing: new Typing(clock),
    clock,
    log,
    signal: talking.signal,
  })
  onMoved((moved, writer) => {
    if (writer !== node) for (const { app } of moved) heard.get(app)?.()
  })
  return {
    ...actors,
    bus,
    hearsOf: app => new Promise(resolve => heard.set(app, resolve)),
    async [Symbol.asyncDispose]() {
      talking.abort()
      await bus.close()
      await actors[Symbol.asyncDispose]()
    },
  }
}
