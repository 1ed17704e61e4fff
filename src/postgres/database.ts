import { StartFault } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Secret } from '../lib/secret.ts'
import type { Teardown } from '../lib/process/teardown.ts'
import { openDirectory } from '../lib/data-directory.ts'
import { EmbeddedPostgres } from './embedded/embedded.ts'
import { lockDirectory } from './embedded/lock.ts'
import { describeHosts } from './driver/hosts.ts'
import { openSql } from './sql.ts'

interface DatabaseOptions {
  /** An external PostgreSQL; null starts an embedded one in `dataDir`. */
  url: Secret | null
  dataDir: string
  /** The number of all connections that this node will open. */
  connections: number
  log: Log
  teardown: Teardown
  onLost: (error: Error) => void
}

/**
 * Returns the URL of a database that answers: `url`, or that of an embedded PostgreSQL, which this starts. StartFault
 * where the external one cannot be reached.
 */
export async function prepareDatabase({ url, dataDir, connections, log, teardown, onLost }: DatabaseOptions) {
  if (url !== null) {
    await requireAnswer(url.reveal())
    return url.reveal()
  }
  const dir = openDirectory(dataDir)
  teardown.add('data directory', lockDirectory(dir))
  // Room for psql, pgbench and backups beside this node's own connections; never below PostgreSQL's default of 100.
  const postgres = await EmbeddedPostgres.start({ dir, connections: Math.max(100, connections + 20), log, onLost })
  teardown.add('PostgreSQL', () => postgres.stop())
  return postgres.url
}

async function requireAnswer(url: string): Promise<void> {
  const sql = openSql({ url, connections: 1, statementTimeoutMs: 10_000, applicationName: 'parley start' })
  try {
    await sql`select 1`
  } catch (cause) {
    const reason = (cause as Error).message || (cause as NodeJS.ErrnoException).code
    throw new StartFault(
      `PostgreSQL cannot be reached at ${describeHosts(url)}: ${reason}. Check ` +
        'DATABASE_URL, and that the server runs and lets this machine in. Without DATABASE_URL, Parley starts a ' +
        'PostgreSQL of its own.',
      { cause },
    )
  } finally {
    await sql.end({ timeout: 1 })
  }
}
