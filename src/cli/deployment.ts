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

/** What a deployment keeps, for a command beside its nodes. */
export interface Deployment {
  url: string
  bytes: Bytes
}

interface OpenParts {
  config: Config
  log: Log
  teardown: Teardown
}

/** Connections of a command, and some for the superuser's. */
const connections = 10

/**
 * Opens the database and the files that a node with this configuration would use: of a running node, or of none, for
 * which an embedded PostgreSQL is started and, by the teardown, stopped. StartFault where there is no database yet.
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

/** The same, where there may be no database yet: an embedded one is made. StartFault where a node uses its directory. */
export async function openNew({ config, log, teardown }: OpenParts): Promise<Deployment> {
  const url = await prepareDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    connections,
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

/** The embedded PostgreSQL that a running node has started. */
function findRunning(cluster: string): string {
  const postmaster = readPostmaster(cluster)
  if (postmaster?.isReady) return toUrl(cluster, postmaster)
  throw new StartFault('The node that uses this data directory is starting or stopping. Try again in a moment.')
}
