import './require-runtime.ts'
import { readConfig, readEnvironment, readEnvironmentFile, type Config } from './config/config.ts'
import { productVersion } from './config/product-version.ts'
import { systemClock, withTimeout } from './lib/clock.ts'
import { createLog, type Log } from './lib/log.ts'
import { logWriter } from './lib/log-text.ts'
import { requireNoArguments } from './lib/process/arguments.ts'
import { runAsProcess, type Running } from './lib/process/lifetime.ts'
import { Teardown } from './lib/process/teardown.ts'
import { Succession } from './node/life/succession.ts'
import { commitsApart } from './node/storage.ts'
import { prepareDatabase, startThrough } from './postgres/database.ts'

export interface Node extends Running {
  /** Where it listens. */
  url: string
  /** The API key, if one was made at this start. It is not known at any other time. */
  apiKey: string | null
  /** Where owners sign in, see docs/administration.md; null where that is turned off. */
  adminUrl: string | null
}

/**
 * Starts one node: waits for PostgreSQL, and starts again where PostgreSQL interrupts it, until `signal` aborts. `stop` ends
 * the node within the configured time. Rejects with a StartFault where the one who starts it can put it right.
 */
export async function startNode(config: Config, signal?: AbortSignal): Promise<Node> {
  const log = createLog(config.logLevel, logWriter(config.logFormat))
  return startThrough(() => startOnce({ config, log, signal }), { log, signal })
}

interface StartOptions {
  config: Config
  log: Log
  signal: AbortSignal | undefined
}

async function startOnce({ config, log, signal }: StartOptions): Promise<Node> {
  const failed = Promise.withResolvers<Error>()
  const onLost = failed.resolve
  const drainMs = config.drainSeconds * 1000
  const teardown = new Teardown(log)
  teardown.add('log', () => log.info({}, 'The node has stopped'))

  try {
    const { databaseUrl, dataDir, databaseConnections, commitLanes } = config
    const connections = databaseConnections + commitLanes + commitsApart
    const url = await prepareDatabase({ url: databaseUrl, dataDir, connections, log, teardown, onLost, signal })
    const { lives, apiKey } = await Succession.start({ config, url, log, onLost })
    const { server } = lives.current
    log.info({ url: server.url, version: productVersion, api: config.apiVersion }, 'The node is ready')

    const stop = async () => {
      log.info({ seconds: config.drainDelaySeconds }, 'The node says that it is about to stop')
      lives.current.server.announceEnd()
      // A node that cannot go on has nothing to wait for.
      const timeoutMs = config.drainDelaySeconds * 1000
      await withTimeout(failed.promise, { clock: systemClock, timeoutMs, onTimeout: () => {} })
      const endsAt = performance.now() + drainMs
      await lives.stop(drainMs)
      await teardown.run(endsAt - performance.now())
    }
    return { url: server.url, apiKey, adminUrl: server.adminUrl, stop, failed: failed.promise }
  } catch (error) {
    await teardown.run(drainMs)
    throw error
  }
}

/** What whoever started the node wants to know first. */
function announce({ url, apiKey, adminUrl }: Node): void {
  const lines = [`Parley ${productVersion} listens on ${url}`]
  if (apiKey !== null) {
    const call = `curl ${url}/api/users -H 'Authorization: Bearer ${apiKey}'`
    lines.push('', 'Your API key, shown this once:', '', apiKey, '', 'Try it:', '', call, '')
    if (adminUrl !== null) lines.push('Or sign in with it:', '', adminUrl, '')
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

if (import.meta.main) {
  await runAsProcess(async signal => {
    requireNoArguments(process.argv.slice(2), 'PORT=3000 npm start')
    const file = readEnvironmentFile()
    const config = readConfig(readEnvironment(file), file)
    const node = await startNode(config, signal)
    announce(node)
    return node
  })
}
