import type { Readable } from 'node:stream'
import { advanceNumbers, beginEpoch } from '../../log/epoch.ts'
import { renewDeployment } from '../../log/shared-log.ts'
import { StartFault } from '../../lib/errors.ts'
import { forgetFolder } from '../../bytes/blob-folder.ts'
import type { Bytes } from '../../bytes/bytes.ts'
import { forgetKey } from '../../resources/seals.ts'
import { listOwnMigrations, makeSchema } from '../../postgres/migrate.ts'
import { openConnection, type Sql, type Tx } from '../../postgres/sql.ts'
import type { Progress } from '../progress.ts'
import { readArchive, readJson, type ArchiveEntry } from './archive.ts'
import { sequencesName } from './backup.ts'
import { listForeignKeys, listRelations, listSequences, listTables } from './catalog.ts'
import { FileLoader, fileOf } from './files.ts'
import { readManifest, Sequences, type Manifest, type Table } from './manifest.ts'
import { quoted, TableLoader, tableOf } from './tables.ts'

interface RestoreParts {
  url: string
  bytes: Bytes
  source: Readable
  /** True where ids and revs may have been issued after the backup: always, unless the nodes were stopped before. */
  hasLost: boolean
  progress: Progress
}

export interface Restored {
  manifest: Manifest
  files: number
}

/**
 * Loads a backup into an empty deployment, the database in one transaction: it stays empty where the backup is damaged
 * or this process dies, so the command can be repeated. The schema is that of the backup; the next node to start
 * applies newer migrations.
 */
export async function restore({ url, bytes, source, hasLost, progress }: RestoreParts): Promise<Restored> {
  const sql = openConnection({ url, statementTimeoutMs: 60_000, applicationName: 'parley admin' })
  const entries = readArchive(source)
  try {
    const first = await entries.next()
    if (first.done) throw new StartFault('The backup is empty.')
    const manifest = readManifest(await readJson(first.value))
    requireKnown(manifest)
    await requireEmpty(sql)
    const files = new FileLoader(bytes, progress)
    let next = await entries.next()
    for (; !next.done; next = await entries.next()) {
      const key = fileOf(next.value)
      if (key === null) break
      await files.add(key, next.value)
    }
    await files.finish()
    await load({ sql, manifest, next, entries, hasLost, progress })
    return { manifest, files: files.count }
  } finally {
    await entries.return(undefined)
    await sql.end({ timeout: 1 })
  }
}

interface LoadParts {
  sql: Sql
  manifest: Manifest
  /** The first entry that is not a file. */
  next: IteratorResult<ArchiveEntry>
  entries: AsyncIterator<ArchiveEntry>
  hasLost: boolean
  progress: Progress
}

async function load({ sql, manifest, next, entries, hasLost, progress }: LoadParts): Promise<void> {
  await sql.begin(async tx => {
    await tx.unsafe('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0')
    await makeSchema(tx, new Set(manifest.migrations.map(({ name }) => name)))
    const made = new Set((await listTables(tx)).map(({ name }) => name))
    const own = manifest.tables.filter(({ name }) => made.has(name))
    // What others keep beside it may be in the backup, but not how it was made.
    for (const { name } of manifest.tables.filter(table => !own.includes(table)))
      progress.say(`The table ${name} is not one of Parley's, and is left out`)
    const finish = await prepareTables(tx, own)
    const tables = new TableLoader(tx, own, progress)
    let sequences: Sequences | null = null
    try {
      for (; !next.done; next = await entries.next()) {
        const entry = next.value
        const table = tableOf(entry)
        if (table !== null) await (made.has(table) ? tables.add(table, entry) : skip(entry))
        else if (entry.name === sequencesName) {
          await tables.finish()
          sequences = Sequences.parse(await readJson(entry))
        }
      }
    } catch (error) {
      tables.abort(error as Error)
      throw error
    }
    if (sequences === null) throw new StartFault('The backup is damaged: it has no sequences.')
    progress.say('All rows are loaded; foreign keys are checked')
    await finish()
    const counted = new Set((await listSequences(tx)).map(({ name }) => name))
    for (const { name, last_value: value } of sequences) {
      if (value !== null && counted.has(name)) await tx`select setval(${quoted(name)}::text::regclass, ${value})`
    }
    if (hasLost) await advanceNumbers(tx)
    await beginEpoch(tx, { hasLost })
    await forgetFolder(tx)
    await forgetKey(tx)
    await renewDeployment(tx)
  })
}

/** Reads an entry to its end: the digest of the backup covers entries that are left out, too. */
async function skip({ content }: ArchiveEntry): Promise<void> {
  for await (const _ of content);
}

/** StartFault unless the schema of the backup, and each of its migrations, is this version's. */
function requireKnown({ migrations, version }: Manifest): void {
  const own = listOwnMigrations()
  if (migrations.every(({ name, digest }) => own.get(name) === digest)) return
  throw new StartFault(
    `The backup was made by Parley ${version} of a database whose schema this version does not have. Restore it with the ` +
      'version that made it.',
  )
}

async function requireEmpty(sql: Sql): Promise<void> {
  const relations = await listRelations(sql)
  if (relations.length === 0) return
  const more = relations.length > 5 ? ` and ${relations.length - 5} more` : ''
  throw new StartFault(
    `The database is not empty: it has ${relations.slice(0, 5).join(', ')}${more}. A backup is restored into a new ` +
      'deployment: set DATA_DIR to a new directory, or DATABASE_URL to a new database.',
  )
}

/**
 * Empties tables of rows made by the schema, creates partitions, and disables triggers and foreign keys: counters come
 * with the backup, and a table may precede the ones that it refers to. The returned function enables them again, which
 * checks every row.
 */
async function prepareTables(tx: Tx, tables: Table[]): Promise<() => Promise<void>> {
  const all = tables.map(({ name }) => quoted(name)).join(', ')
  const keys = await listForeignKeys(tx)
  for (const { name, constraint } of keys) {
    await tx.unsafe(`alter table ${quoted(name)} drop constraint ${quoted(constraint)}`)
  }
  // First of all, because a trigger keeps the audit log from being emptied.
  for (const { name } of tables) await tx.unsafe(`alter table ${quoted(name)} disable trigger user`)
  await tx.unsafe(`truncate ${all}`)
  for (const { name, partitions } of tables) {
    for (const partition of partitions) {
      await tx.unsafe(`create table ${quoted(partition.name)} partition of ${quoted(name)} ${partition.bounds}`)
    }
  }
  return async () => {
    for (const { name, constraint, definition } of keys) {
      await tx.unsafe(`alter table ${quoted(name)} add constraint ${quoted(constraint)} ${definition}`)
    }
    for (const { name } of tables) await tx.unsafe(`alter table ${quoted(name)} enable trigger user`)
  }
}
