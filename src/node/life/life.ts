import type { Config } from '../../config/config.ts'
import { toAssistantSettings } from '../../config/part-options.ts'
import type { Port } from '../../http/server/listening.ts'
import type { HttpServer } from '../../http/server/server.ts'
import type { Log } from '../../lib/log.ts'
import { Teardown } from '../../lib/process/teardown.ts'
import type { Epoch } from '../../log/epoch.ts'
import { ensureAssistant } from '../../resources/agents/assistant.ts'
import { ensureKey, withdrawKey } from '../../resources/keys/first-key.ts'
import { startNotifications, startWebhooks } from '../after-commits.ts'
import { startAgents } from '../agents.ts'
import { openBase } from '../base.ts'
import { openEngine } from '../engine.ts'
import { openFiles } from '../files.ts'
import { startAllJobs } from '../jobs.ts'
import { linkNodes } from '../links.ts'
import { openMonitoring, storeLastSample } from '../monitoring.ts'
import { openRealtime } from '../realtime.ts'
import { createServer } from '../server.ts'
import { openSharedState } from '../shared-state.ts'
import { openStorage } from '../storage.ts'

export interface LifeOptions {
  config: Config
  /** Where the database is. */
  url: string
  /** The epoch of the life before; null for the first one. */
  over: Epoch | null
  log: Log
}

/**
 * Everything that a node is made of and keeps in memory, for one history of the database. A cache that is made here cannot
 * outlive what it was made from: when the epoch ends, every answer is 503 and every session is told to come back at once,
 * no connection is admitted any more, and the whole of it is replaced (see `Succession`).
 */
export interface Life {
  readonly epoch: Epoch
  readonly server: HttpServer
  /** Opens the ports, or takes over those of the life before. */
  listen(ports?: Port[]): Promise<void>
  /** Makes what the configuration asks for. Resolves with the API key, if one was made. It is not known at any other time. */
  provide(): Promise<string | null>
  /** Removes a key that `provide` has made, where the start failed before the key could be shown. */
  withdraw(apiKey: string): Promise<void>
  /** How the ports are closed, and how everything behind them ends: the steps of a stop, in this order. */
  readonly doors: Teardown
  readonly parts: Teardown
}

/**
 * Makes all parts. Each is made of those before it, and adds to a teardown how it ends, the other way round. Rejects with a
 * StartFault where the one who starts it can put it right; nothing is left of it then.
 */
export async function openLife({ config, url, over, log }: LifeOptions): Promise<Life> {
  const doors = new Teardown(log)
  const teardown = new Teardown(log)
  try {
    const base = await openBase({ config, url, over, log, teardown })
    const storage = { ...base, ...(await openStorage(base)) }
    const files = await openFiles(storage)
    const shared = { ...storage, ...files, ...(await openSharedState({ ...storage, ...files })) }
    const engine = { ...shared, ...openEngine(shared) }
    const linked = { ...engine, ...(await linkNodes(engine)) }

    // What follows from commits: frames to sessions, deliveries, notifications, answers of agents.
    const realtime = await openRealtime(linked)
    const live = { ...linked, realtime }
    const webhooks = startWebhooks(live)
    const notifications = await startNotifications(live)
    const agents = await startAgents(live)

    // What looks at all of it, comes round, and opens the doors.
    const whole = { ...live, webhooks, notifications, agents }
    const watched = { ...whole, ...(await openMonitoring(whole)) }
    startAllJobs(watched)
    const server = await createServer(watched, doors)

    const { epoch, sql, globalCommands, apps, now, monitor, clock, origin } = watched
    const listen = async (ports?: Port[]) => {
      origin.listensAt(await server.listen(config.port, config.host, ports))
      doors.add('port', () => server.stopListening())
      doors.add('last sample', () => storeLastSample(monitor, clock))
      doors.add('log', () => log.info({ requests: server.open, commands: apps.waiting }, 'The node stops'))
    }
    const provide = async () => {
      const assistant = toAssistantSettings(config)
      if (assistant !== null) await ensureAssistant(globalCommands, assistant)
      return ensureKey({ sql, globalCommands, now: now() }, config)
    }
    const withdraw = (apiKey: string) => withdrawKey(sql, apiKey)
    return { epoch, server, listen, provide, withdraw, doors, parts: teardown }
  } catch (error) {
    await endLife({ doors, parts: teardown }, config.drainSeconds * 1000)
    throw error
  }
}

/** Ends all of it within `budgetMs`. Never rejects. */
export async function endLife({ doors, parts }: Pick<Life, 'doors' | 'parts'>, budgetMs: number): Promise<void> {
  const endsAt = performance.now() + budgetMs
  await doors.run(budgetMs)
  await parts.run(endsAt - performance.now())
}
