import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import type { FaultyNode } from './node.ts'
import type { Proxy } from './proxy.ts'
import type { Random } from './random.ts'

/** Something that will be done to the cluster, and undone. */
export interface Fault {
  name: string
  /** What it breaks: two faults at the same time do not break the same. */
  part: string
  /** Resolves when everything is whole again. What is acknowledged while `lose` runs may be lost. */
  run(lose: Lose): Promise<void>
}

type Lose = (during: () => Promise<void>) => Promise<void>

/** Longer than deadlines for what hangs, such as the keep-alive of a lock, and shorter than those for what is dead. */
const longestPauseMs = 5_000

interface Kind {
  name: string
  draw: (cluster: Cluster, random: Random) => Fault
}

/** Every kind of fault, those of nodes most often. */
const kinds: readonly Kind[] = [
  ofNode('kill -9', async (node, random) => {
    await node.end('SIGKILL')
    await delay(random.integer(0, 2_000))
    await node.start()
  }),
  ofNode('pause', async (node, random) => {
    node.signal('SIGSTOP')
    await delay(random.integer(200, longestPauseMs))
    node.signal('SIGCONT')
  }),
  ofNode('drain', async node => {
    await node.end('SIGTERM')
    await node.start()
  }),
  ofNode('cut clients of', async node => node.clients.cut()),
  ofNode('stall clients of', (node, random) => stall([node.clients], random)),
  ofNode('cut PostgreSQL from', async node => node.postgres.forEach(proxy => proxy.cut())),
  ofNode('stall PostgreSQL for', (node, random) => stall(node.postgres, random)),
  ofNode('cut Redis from', async node => node.redis.cut()),
  ofNode('stall Redis for', (node, random) => stall([node.redis], random)),
  ofAll('PostgreSQL', 'terminate all backends', cluster => cluster.terminateBackends()),
  ofAll('PostgreSQL', 'kill -9 the backends', async cluster => cluster.signalBackends('SIGKILL')),
  ofAll('PostgreSQL', 'pause PostgreSQL', async (cluster, random) => {
    cluster.signalBackends('SIGSTOP')
    await delay(random.integer(200, longestPauseMs))
    cluster.signalBackends('SIGCONT')
  }),
  ofAll('PostgreSQL', 'crash PostgreSQL', async (cluster, random) => {
    await cluster.crashPostgres()
    await delay(random.integer(0, 2_000))
    await cluster.startPostgres()
  }),
  ofAll('PostgreSQL', 'fail over PostgreSQL', async (cluster, random) => {
    const standby = await cluster.startStandby()
    await delay(random.integer(0, 2_000))
    await cluster.crashPostgres()
    await delay(random.integer(0, 2_000))
    await cluster.promote(standby)
  }),
  ofAll('PostgreSQL', 'fail over PostgreSQL to a standby that is behind', async (cluster, random, lose) => {
    const standby = await cluster.startStandby({ isSynchronous: false })
    await lose(async () => {
      await cluster.isolate(standby)
      await delay(random.integer(200, 2_000))
      await cluster.crashPostgres()
      await delay(random.integer(0, 2_000))
      await cluster.promote(standby)
    })
  }),
  ofAll('Redis', 'kill -9 Redis', async (cluster, random) => {
    await cluster.killRedis()
    await delay(random.integer(100, 3_000))
    await cluster.startRedis()
  }),
  ofAll('Redis', 'pause Redis', async (cluster, random) => {
    cluster.signalRedis('SIGSTOP')
    await delay(random.integer(200, longestPauseMs))
    cluster.signalRedis('SIGCONT')
  }),
  ofAll('Redis', 'flush Redis', cluster => cluster.flushRedis()),
]

/**
 * Faults without end: every kind once in each round, in an order that the seed chooses, so that a short run meets as
 * many kinds as it has faults. `only`: kinds with this in their name.
 */
export function* drawFaults(cluster: Cluster, random: Random, only = ''): Generator<Fault, never> {
  const chosen = kinds.filter(({ name }) => name.includes(only))
  if (chosen.length === 0)
    throw new Error(`No fault is called ${only}; there are ${kinds.map(({ name }) => name).join(', ')}`)
  for (;;) {
    const round = [...chosen]
    while (round.length > 0) yield round.splice(random.integer(0, round.length - 1), 1)[0]!.draw(cluster, random)
  }
}

function ofNode(name: string, run: (node: FaultyNode, random: Random) => Promise<void>): Kind {
  const draw: Kind['draw'] = (cluster, random) => {
    const node = random.pick(cluster.nodes)
    const own = random.fork()
    return { name: `${name} node ${node.number}`, part: `node ${node.number}`, run: () => run(node, own) }
  }
  return { name, draw }
}

function ofAll(part: string, name: string, run: (cluster: Cluster, random: Random, lose: Lose) => Promise<void>): Kind {
  const draw: Kind['draw'] = (cluster, random) => {
    const own = random.fork()
    return { name, part, run: lose => run(cluster, own, lose) }
  }
  return { name, draw }
}

async function stall(proxies: readonly Proxy[], random: Random): Promise<void> {
  for (const proxy of proxies) proxy.stall()
  await delay(random.integer(200, longestPauseMs))
  for (const proxy of proxies) proxy.resume()
}
