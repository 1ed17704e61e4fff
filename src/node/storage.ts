import { prepareEvents } from '../jobs/storage-jobs.ts'
import { Vault } from '../lib/vault.ts'
import { removeNode } from '../monitoring/node-store.ts'
import { prepareDatabase } from '../postgres/database.ts'
import { migrate } from '../postgres/migrate.ts'
import { Replica } from '../postgres/replica.ts'
import { backgroundIdleInTransactionMs, openSql, type Sql } from '../postgres/sql.ts'
import { requireKeys } from '../resources/seals.ts'
import type { Base } from './base.ts'

/**
 * Commits of contended apps, and of commands that read rows first, run beside the group commits: so many at a time. A guess.
 */
export const commitsApart = 2

export interface Storage {
  /** Where the database is. */
  url: string
  sql: Sql
  /** Null where there is none. */
  replica: Replica | null
  /** Opens what is sealed in the database. */
  vault: Vault
}

/** The database and its schema: an embedded PostgreSQL where DATABASE_URL names none. */
export async function openStorage({ config, node, log, now, metrics, teardown, onLost }: Base): Promise<Storage> {
  const statementTimeoutMs = config.statementSeconds * 1000
  const url = await prepareDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    connections: config.databaseConnections + config.commitLanes + commitsApart,
    log,
    teardown,
    onLost,
  })
  const sql = openSql({
    url,
    connections: config.databaseConnections,
    statementTimeoutMs,
    idleTimeoutMs: backgroundIdleInTransactionMs,
    waited: ms => metrics.poolWaits.observe(ms / 1000),
  })
  teardown.add('connections', () => sql.end({ timeout: 5 }))
  await migrate(sql, log)
  await prepareEvents(sql, now())
  // When all its commits have ended: while no other node is registered, reads trust that none commits.
  teardown.add('node', () => removeNode(sql, node))

  const vault = new Vault(config.secretKeys)
  await requireKeys(sql, vault)
  if (!vault.isLocked)
    log.warn({}, 'SECRET_KEYS is not set: headers of agents and secrets of webhooks are stored in clear')

  const replica =
    config.replicaUrl === null
      ? null
      : new Replica({
          primary: sql,
          url: config.replicaUrl.reveal(),
          connections: config.databaseConnections,
          statementTimeoutMs,
          log,
        })
  if (replica !== null) teardown.add('replica', () => replica.close())
  metrics.counter('parley_replica_reads_total', 'Reads that the replica has answered.', () => replica?.reads ?? 0)
  return { url, sql, replica, vault }
}
