import { pause, wakefulClock } from '../lib/clock.ts'
import { StartFault } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Secret } from '../lib/secret.ts'
import type { Teardown } from '../lib/process/teardown.ts'
import { openDirectory } from '../lib/data/directory.ts'
import { EmbeddedPostgres } from './embedded/embedded.ts'
import { lockDirectory } from './embedded/lock.ts'
import { describeHosts } from './driver/hosts.ts'
import { openSql } from './sql.ts'
import { isInterruption } from './unavailable.ts'

interface DatabaseOptions {
  /** An external PostgreSQL; null starts an embedded one in `dataDir`. */
  url: Secret | null
  dataDir: string
  /** The number of all connections that this node will open. */
  connections: number
  log: Log
  teardown: Teardown
  onLost: (error: Error) => void
  /** How long to wait for an external one that cannot be reached. Default: for as long as that lasts. */
  patienceMs?: number
  /** Aborted when the wait is to end; it then rejects with the reason. */
  signal?: AbortSignal | undefined
}

/**
 * Returns the URL of a database that answers: `url`, or that of an embedded PostgreSQL, which this starts. An external
 * one that cannot be reached, or recovers, is waited for. StartFault where it refuses this node.
 */
export async function prepareDatabase({
  url,
  dataDir,
  connections,
  log,
  teardown,
  onLost,
  ...waiting
}: DatabaseOptions) {
  if (url !== null) {
    await waitForAnswer(url.reveal(), { log, ...waiting })
    return url.reveal()
  }
  const dir = openDirectory(dataDir)
  teardown.add('data directory', lockDirectory(dir))
  // Room for psql, pgbench and backups beside this node's own connections; never below PostgreSQL's default of 100.
  const postgres = await EmbeddedPostgres.start({ dir, connections: Math.max(100, connections + 20), log, onLost })
  teardown.add('PostgreSQL', () => postgres.stop())
  return postgres.url
}

/** Pauses between two attempts to connect: from the first to the longest, each twice the one before. Guesses. */
const firstPauseMs = 250
const longestPauseMs = 5_000

/** How often it is said that PostgreSQL is still away. */
const repeatMs = 60_000

type Waiting = Pick<DatabaseOptions, 'log' | 'signal' | 'patienceMs'>

/** Waits until PostgreSQL answers, with one connection at a time. StartFault where it answers that it is not to be used. */
async function waitForAnswer(url: string, { log, signal, patienceMs = Infinity }: Waiting): Promise<void> {
  const beganAtMs = performance.now()
  let saidAtMs = Number.NEGATIVE_INFINITY
  for (let attempt = 0; ; attempt++) {
    const error = await findRefusal(url)
    if (error === null) {
      if (attempt > 0) log.info({}, 'PostgreSQL answers')
      return
    }
    const reason = (error as Error).message || (error as NodeJS.ErrnoException).code
    const sentence =
      `PostgreSQL cannot be reached at ${describeHosts(url)}: ${reason}. Check ` +
      'DATABASE_URL, and that the server runs and lets this machine in. Without DATABASE_URL, Parley starts a ' +
      'PostgreSQL of its own.'
    const nowMs = performance.now()
    if (!isInterruption(error) || nowMs - beganAtMs > patienceMs) throw new StartFault(sentence, { cause: error })
    if (nowMs - saidAtMs >= repeatMs) {
      log.warn({}, `${sentence} Waiting for it.`)
      saidAtMs = nowMs
    }
    await pause(wakefulClock, toPauseMs(attempt), signal)
  }
}

function toPauseMs(attempt: number): number {
  return Math.min(firstPauseMs * 2 ** attempt, longestPauseMs)
}

async function findRefusal(url: string): Promise<unknown> {
  const sql = openSql({ url, connections: 1, statementTimeoutMs: 10_000, applicationName: 'parley start' })
  try {
    await sql`select 1`
    return null
  } catch (error) {
    return error
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/**
 * Runs a start that uses PostgreSQL, and again from its beginning whenever PostgreSQL interrupts it: by then `start` has
 * ended what it had begun. Rejects with any other error, and with the reason of `signal`.
 */
export async function startThrough<Started>(
  start: () => Promise<Started>,
  { log, signal }: Pick<DatabaseOptions, 'log' | 'signal'>,
): Promise<Started> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      if (!isInterruption(error)) throw error
      const reason = (error as Error).message
      log.warn({}, `PostgreSQL has interrupted the start: ${reason}. It begins again when PostgreSQL answers.`)
    }
    await pause(wakefulClock, toPauseMs(attempt), signal)
  }
}
