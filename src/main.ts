import './require-runtime.ts'
import { readConfig, readEnvironment, readEnvironmentFile, type Config } from './config/config.ts'
import { toAssistantSettings } from './config/part-options.ts'
import { withTimeout } from './lib/clock.ts'
import { createLog } from './lib/log.ts'
import { runAsProcess, type Running } from './lib/process/lifetime.ts'
import { Teardown } from './lib/process/teardown.ts'
import { startNotifications, startWebhooks } from './node/after-commits.ts'
import { startAgents } from './node/agents.ts'
import { openBase } from './node/base.ts'
import { openEngine } from './node/engine.ts'
import { openFiles } from './node/files.ts'
import { startAllJobs } from './node/jobs.ts'
import { linkNodes } from './node/links.ts'
import { openMonitoring, storeLastSample } from './node/monitoring.ts'
import { openRealtime } from './node/realtime.ts'
import { createServer } from './node/server.ts'
import { openSharedState } from './node/shared-state.ts'
import { openStorage } from './node/storage.ts'
import { ensureAssistant } from './resources/agents/assistant.ts'
import { ensureKey } from './resources/keys/first-key.ts'

export interface Node extends Running {
  /** Where it listens. */
  url: string
  /** The API key, if one was made at this start. It is not known at any other time. */
  apiKey: string | null
  /** Where owners sign in, see docs/administration.md; null where that is turned off. */
  adminUrl: string | null
}

/**
 * Starts one node. Each part is made of those before it, and adds to `teardown` how it ends: `stop` ends them the other
 * way round, within the configured time. Rejects with a StartFault where the one who starts it can put it right.
 */
export async function startNode(config: Config): Promise<Node> {
  const log = createLog(config.logLevel)
  const failed = Promise.withResolvers<Error>()
  const teardown = new Teardown(log)
  const stop = () => teardown.run(config.drainSeconds * 1000)
  teardown.add('log', () => log.info({}, 'The node has stopped'))

  try {
    const base = await openBase({ config, log, teardown, onLost: failed.resolve })
    const storage = { ...base, ...(await openStorage(base)) }
    const shared = { ...storage, ...(await openSharedState(storage)) }
    const engine = { ...shared, ...openEngine(shared) }
    const linked = { ...engine, ...(await linkNodes(engine)) }
    const files = await openFiles(storage)

    // What follows from commits: frames to sessions, deliveries, notifications, answers of agents.
    const realtime = await openRealtime(linked)
    const live = { ...linked, ...files, realtime }
    const webhooks = startWebhooks(live)
    const notifications = await startNotifications(live)
    const agents = await startAgents(live)

    // What looks at all of it, comes round, and opens the doors.
    const whole = { ...live, webhooks, notifications, agents }
    const watched = { ...whole, ...(await openMonitoring(whole)) }
    startAllJobs(watched)
    const server = await createServer(watched)
    const url = await server.listen(config.port, config.host)
    base.origin.listensAt(url)
    teardown.add('port', () => server.stopListening())
    teardown.add('last sample', () => storeLastSample(watched.monitor, base.clock))

    const { sql, globalCommands, apps, now } = watched
    const assistant = toAssistantSettings(config)
    if (assistant !== null) await ensureAssistant(globalCommands, assistant)
    // Last, because it is shown only once: whoever was refused before has lost nothing.
    const apiKey = await ensureKey({ sql, globalCommands, now: now() }, config)
    log.info({ url, version: config.version }, 'The node is ready')
    teardown.add('log', () => log.info({ requests: server.open, commands: apps.waiting }, 'The node stops'))

    const leave = async () => {
      log.info({ seconds: config.drainDelaySeconds }, 'The node says that it is about to stop')
      server.announceEnd()
      // A node that cannot go on has nothing to wait for.
      const timeoutMs = config.drainDelaySeconds * 1000
      await withTimeout(failed.promise, { clock: base.clock, timeoutMs, onTimeout: () => {} })
      await stop()
    }
    return { url, apiKey, adminUrl: server.adminUrl, stop: leave, failed: failed.promise }
  } catch (error) {
    await stop()
    throw error
  }
}

/** What whoever started the node wants to know first. */
function announce({ url, apiKey, adminUrl }: Node, version: string): void {
  const lines = [`Parley ${version} listens on ${url}`]
  if (apiKey !== null) {
    const call = `curl ${url}/api/users -H 'Authorization: Bearer ${apiKey}'`
    lines.push('', 'Your API key, shown this once:', '', apiKey, '', 'Try it:', '', call, '')
    if (adminUrl !== null) lines.push('Or sign in with it:', '', adminUrl, '')
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

if (import.meta.main) {
  await runAsProcess(async () => {
    const file = readEnvironmentFile()
    const config = readConfig(readEnvironment(file), file)
    const node = await startNode(config)
    announce(node, config.version)
    return node
  })
}
