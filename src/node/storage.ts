import { expireLeases } from '../agents/runs/lease-store.ts'
import { prepareEvents } from '../jobs/storage-jobs.ts'
import { admitPrimary, admitReplica, findEpoch, type Epoch } from '../log/epoch.ts'
import type { Vault } from '../lib/vault.ts'
import { removeAllNodes, removeNode } from '../monitoring/node-store.ts'
import { migrate } from '../postgres/migrate.ts'
import { Replica } from '../postgres/replica.ts'
import { backgroundIdleInTransactionMs, openSql, type Sql, type Tx } from '../postgres/sql.ts'
import { openVault } from '../resources/seals.ts'
import { releaseAllLeases } from '../resources/webhooks/delivery/store.ts'
import type { Base } from './base.ts'

/**
 * Commits of contended apps, and of commands that read rows first, run beside the group commits: so many at a time. A guess.
 */
export const commitsApart = 2

export interface Storage {
  /** The history of the database that everything in memory belongs to. */
  epoch: Epoch
  sql: Sql
  /** Null where there is none. */
  replica: Replica | null
  /** Opens what is sealed in the database. */
  vault: Vault
}

/** The database and its schema. Every connection but those that prepare it is admitted by the epoch. */
export async function openStorage(parts: Base): Promise<Storage> {
  const { config, node, url, log, now, metrics, teardown } = parts
  const epoch = await prepareSchema(parts)
  const statementTimeoutMs = config.statementSeconds * 1000
  const sql = openSql({
    url,
    admission: epoch.admission,
    connections: config.databaseConnections,
    statementTimeoutMs,
    idleTimeoutMs: backgroundIdleInTransactionMs,
    waited: ms => metrics.poolWaits.observe(ms / 1000),
  })
  teardown.add('connections', () => sql.end({ timeout: 5 }))
  await prepareEvents(sql, now())
  // When all its commits have ended: while no other node is registered, reads trust that none commits.
  teardown.add('node', () => (epoch.signal.aborted ? undefined : removeNode(sql, node)))

  const { secretKeys: keys, dataDir } = config
  const vault = await openVault({ sql, keys, dataDir, isShared: config.databaseUrl !== null, log })

  const replica =
    config.replicaUrl === null
      ? null
      : new Replica({
          primary: sql,
          url: config.replicaUrl.reveal(),
          admission: admitReplica(epoch.id),
          connections: config.databaseConnections,
          statementTimeoutMs,
          log,
        })
  if (replica !== null) teardown.add('replica', () => replica.close())
  metrics.counter('parley_replica_reads_total', 'Reads that the replica has answered.', () => replica?.reads ?? 0)
  return { epoch, sql, replica, vault }
}

/** Nodes of the history before have no part in this one: they are not waited for, and hold nothing. */
async function forgetNodes(tx: Tx): Promise<void> {
  await removeAllNodes(tx)
  await releaseAllLeases(tx)
  await expireLeases(tx)
}

async function prepareSchema({ config, url, over, log }: Base): Promise<Epoch> {
  const sql = openSql({
    url,
    admission: admitPrimary,
    connections: 1,
    statementTimeoutMs: config.statementSeconds * 1000,
  })
  try {
    await migrate(sql, log)
    return await findEpoch(sql, { over, onBegin: forgetNodes })
  } finally {
    await sql.end({ timeout: 1 })
  }
}
