import { StartFault } from '../../lib/errors.ts'
import { holdOrphanedBytes } from '../../resources/blobs/store.ts'
import type { Bytes } from '../../bytes/bytes.ts'
import { openConnection, type Tx } from '../../postgres/sql.ts'
import type { Progress } from '../progress.ts'
import { manifestName, formatVersion, type ArchiveWriter } from './archive.ts'
import { findPostgresVersion, listSequences, listTables } from './catalog.ts'
import { saveFiles, type SavedFiles } from './files.ts'
import type { Manifest, Table } from './manifest.ts'
import { quoted, saveTable } from './tables.ts'

export const sequencesName = 'sequences.json'

interface BackupParts {
  url: string
  /** Null leaves the files out. */
  bytes: Bytes | null
  archive: ArchiveWriter
  version: string
  progress: Progress
}

export interface BackedUp extends SavedFiles {
  rows: number
}

/**
 * Writes a deployment to an archive while its nodes run: the database at one moment, and the files that it knows then.
 * Everything acknowledged before the backup began is in it.
 *
 * The moment is the snapshot of one transaction. As with pg_dump, VACUUM keeps what the snapshot sees, and migrations
 * wait for it. Deleted files are kept until it has ended.
 */
export async function backUp({ url, bytes, archive, version, progress }: BackupParts): Promise<BackedUp> {
  const sql = openConnection({ url, statementTimeoutMs: 60_000, applicationName: 'parley admin' })
  try {
    const present = await listTables(sql)
    if (!present.some(({ name }) => name === 'migrations')) {
      throw new StartFault('There is nothing to back up: no Parley has been started on this database.')
    }
    // Before the snapshot, so that files it sees are not removed from now on.
    await holdOrphanedBytes(sql)
    const saved = sql.begin('isolation level repeatable read read only', async tx => {
      await tx.unsafe('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0')
      // The next query takes the snapshot; the locks keep tables from changing their form until their turn.
      await tx.unsafe(`lock table ${present.map(({ name }) => quoted(name)).join(', ')} in access share mode`)
      const tables = await listTables(tx)
      await archive.addJson(manifestName, await describe(tx, tables, version, bytes !== null))
      const files = bytes === null ? { count: 0, missing: [] } : await saveFiles(tx, bytes, archive, progress)
      let rows = 0
      for (const table of tables) rows += await saveTable(tx, table, archive, progress)
      // Sequences are not part of a snapshot. Read last, they are beyond everything that was saved.
      await archive.addJson(sequencesName, await listSequences(tx))
      await archive.finish()
      return { ...files, rows }
    })
    // Where the archive fails during a COPY, the transaction fails with what it cannot roll back, and not with the reason.
    return await Promise.race([saved, archive.failed])
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function describe(tx: Tx, tables: Table[], version: string, hasFiles: boolean): Promise<Manifest> {
  const [row] = await tx<{ time: Date }[]>`select now() as time`
  return {
    format: formatVersion,
    version,
    postgres: await findPostgresVersion(tx),
    created_at: row!.time.toISOString(),
    migrations: await tx<Manifest['migrations']>`select name, digest from migrations order by name`,
    tables,
    has_files: hasFiles,
  }
}
