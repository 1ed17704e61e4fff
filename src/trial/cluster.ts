import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { readConfig, readEnvironment } from '../config/config.ts'
import { StartFault } from '../lib/errors.ts'
import { requireNoArguments } from '../lib/process/arguments.ts'
import { runAsProcess } from '../lib/process/lifetime.ts'
import { createLog } from '../lib/log.ts'
import { logWriter } from '../lib/log-text.ts'
import { Teardown } from '../lib/process/teardown.ts'
import { prepareDatabase } from '../postgres/database.ts'
import { Balancer } from './balancer.ts'
import { NodeProcess } from './node-process.ts'
import { startLocalRedis } from './redis.ts'

/** On one machine, more would only wait for each other. */
const nodeLimit = 16

/** A node's own connections, beside those for reading: more than it opens. */
const otherConnections = 10

/** Starts PostgreSQL and Redis unless the settings name them, then the nodes and the balancer. */
async function startCluster(count: number) {
  const environment = readEnvironment()
  const config = readConfig({ PORT: '8080', DATA_DIR: '.data/cluster', LOG_LEVEL: 'warn', ...environment })
  const log = createLog(config.logLevel, logWriter(config.logFormat))
  const teardown = new Teardown(log)
  const failed = Promise.withResolvers<Error>()
  const stop = () => teardown.run((config.drainDelaySeconds + config.drainSeconds + 10) * 1000)
  try {
    say(config.databaseUrl === null ? 'Starting PostgreSQL' : 'Using the PostgreSQL of DATABASE_URL')
    const databaseUrl = await prepareDatabase({
      url: config.databaseUrl,
      dataDir: config.dataDir,
      connections: count * (config.databaseConnections + otherConnections),
      log,
      teardown,
      onLost: failed.resolve,
    })
    const redis = config.redisUrl === null ? await startLocalRedis() : null
    if (redis !== null) teardown.add('Redis', () => redis.stop())
    const redisUrl = config.redisUrl?.reveal() ?? redis?.url
    say(
      redisUrl === undefined
        ? 'No redis-server or valkey-server is installed: going on without, so that news of other nodes takes a second. ' +
            'To try it with Redis, install one (apt install redis-server, brew install redis), or set REDIS_URL.'
        : config.redisUrl === null
          ? 'Started Redis'
          : 'Using the Redis of REDIS_URL',
    )

    const balancer = new Balancer()
    const key = config.apiKey?.reveal() ?? `wys_${randomBytes(24).toString('base64url')}`
    const url = await balancer.listen(config.port)
    teardown.add('balancer', () => balancer.close())
    const nodes = Array.from({ length: count }, (_, i) => {
      const name = `node ${i + 1}`
      const node: NodeProcess = new NodeProcess({
        name,
        environment: {
          LOG_LEVEL: 'warn',
          ...environment,
          HOST: '127.0.0.1',
          PORT: '0',
          PUBLIC_URL: config.publicUrl ?? url,
          TRUST_PROXY: 'true',
          DATA_DIR: resolve(config.dataDir),
          DATABASE_URL: databaseUrl,
          API_KEY: key,
          ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
        },
        onReady(address) {
          balancer.add(name, address)
          say(`${name} (process ${node.pid}) listens on ${address}`)
        },
        onLost(outcome) {
          balancer.remove(name)
          say(`${name} has ended (${outcome}); it is started again`)
        },
      })
      teardown.add(name, () => node.stop())
      return node
    })
    // The first node migrates the database, for which the others would wait.
    for (const node of nodes) await node.start()
    say(
      [
        '',
        `${count} nodes behind ${url}`,
        `API key: ${key}`,
        '',
        `curl ${url}/api/apps -H 'Authorization: Bearer ${key}'`,
        '',
        'Ctrl-C ends all of it. kill -9 one of the processes, and see what happens.',
      ].join('\n'),
    )
    return { stop, failed: failed.promise }
  } catch (error) {
    await stop()
    throw error
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function readCount(text: string | undefined): number {
  const count = Number(text ?? 3)
  if (Number.isInteger(count) && count >= 1 && count <= nodeLimit) return count
  throw new StartFault(`How many nodes? A number from 1 to ${nodeLimit}, as in: npm run cluster -- 3`)
}

if (import.meta.main) {
  await runAsProcess(async () => {
    const count = readCount(process.argv[2])
    requireNoArguments(process.argv.slice(3), 'PORT=3000 npm run cluster -- 3')
    say(`${count} nodes on ${availableParallelism()} processors`)
    return startCluster(count)
  })
}
