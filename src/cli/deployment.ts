import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { StartFault } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Teardown } from '../lib/process/teardown.ts'
import { toBytesSettings } from '../config/part-options.ts'
import type { Bytes } from '../bytes/bytes.ts'
import { openBytes } from '../bytes/bytes-open.ts'
import { prepareDatabase } from '../postgres/database.ts'
import { readPostmaster, toUrl } from '../postgres/embedded/cluster.ts'
import { lockDirectory } from '../postgres/embedded/lock.ts'

/** The stores of a deployment, for a command beside its nodes. */
export interface Deployment {
  url: string
  bytes: Bytes
}

interface OpenParts {
  config: Config
  log: Log
  teardown: Teardown
}

/** Connections of a command, including some of the superuser. */
const connections = 10

/** How long a command waits for PostgreSQL, in which a restart or a recovery usually ends. A guess. */
const patienceMs = 30_000

/**
 * Opens the database and the files that a node with this configuration uses. If no node runs, starts the embedded
 * PostgreSQL, which the teardown stops. StartFault where there is no database yet.
 */
export async function openDeployment(parts: OpenParts): Promise<Deployment> {
  const { config } = parts
  if (config.databaseUrl !== null) return openNew(parts)
  const cluster = join(resolve(config.dataDir), 'postgres')
  if (!existsSync(cluster)) {
    throw new StartFault(
      `There is no database in ${resolve(config.dataDir)}. Set DATA_DIR or DATABASE_URL as for npm start.`,
    )
  }
  const url = isLocked(config.dataDir) ? findRunning(realpathSync(cluster)) : null
  if (url === null) return openNew(parts)
  return { url, bytes: await openBytes(toBytesSettings(config)) }
}

/**
 * Opens a deployment as `openDeployment`, and creates an embedded database where there is none. StartFault where a node
 * uses the data directory.
 */
export async function openNew({ config, log, teardown }: OpenParts): Promise<Deployment> {
  const url = await prepareDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    connections,
    patienceMs,
    log,
    teardown,
    onLost: error => log.error({ error }, 'PostgreSQL has ended'),
  })
  return { url, bytes: await openBytes(toBytesSettings(config)) }
}

function isLocked(dataDir: string): boolean {
  try {
    lockDirectory(resolve(dataDir))()
    return false
  } catch (error) {
    if (error instanceof StartFault) return true
    throw error
  }
}

/** The URL of a running node's embedded PostgreSQL. */
function findRunning(cluster: string): string {
  const postmaster = readPostmaster(cluster)
  if (postmaster?.isReady) return toUrl(cluster, postmaster)
  throw new StartFault('The node that uses this data directory is starting or stopping. Try again in a moment.')
}
