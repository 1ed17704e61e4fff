import { setTimeout as delay } from 'node:timers/promises'
import { StartFault } from '../../lib/errors.ts'
import type { Bytes } from '../../bytes/bytes.ts'
import { openConnection, type Sql, type Tx } from '../../postgres/sql.ts'
import { mapStoredBlobs } from '../backup/files.ts'
import type { Progress } from '../progress.ts'
import { counters, type Counter } from './counters.ts'

/** The most rows that are named for each counter. */
const namedRows = 5

/** A guess: a backend notices the end of its connection immediately, unless it is within a statement. */
const closingMs = 2_000

interface CheckParts {
  url: string
  /** Null leaves the files out. */
  bytes: Bytes | null
  repairs: boolean
  progress: Progress
}

export interface Checked {
  /** Counters that differ from their rows. */
  wrong: number
  repaired: number
  /** Files whose bytes are missing or incomplete. */
  missing: number
}

/**
 * Compares derived values with their sources in one snapshot, and reports each difference. With `repairs`, corrects the
 * derived values: only while no node runs, because nodes hold them in memory too.
 */
export async function check({ url, bytes, repairs, progress }: CheckParts): Promise<Checked> {
  const sql = openConnection({ url, statementTimeoutMs: 60_000, applicationName: 'parley admin' })
  try {
    if (repairs)
      await requireStopped(
        sql,
        'Nodes are running on this database, which have counters in memory. Stop them before --repair.',
      )
    const isolation = `isolation level repeatable read ${repairs ? 'read write' : 'read only'}`
    return await sql.begin(isolation, async tx => {
      await tx.unsafe('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0')
      const checked: Checked = { wrong: 0, repaired: 0, missing: 0 }
      for (const counter of counters) {
        const wrong = await findWrong(tx, counter, progress)
        checked.wrong += wrong
        if (wrong > 0 && repairs) checked.repaired += await repair(tx, counter)
      }
      if (bytes !== null) checked.missing = await checkFiles(tx, bytes, progress)
      return checked
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function findWrong(tx: Tx, { table, key, column, actual, where = 'true' }: Counter, progress: Progress) {
  const rows = await tx.unsafe<{ key: number; stored: number | null; actual: number | null; count: number }[]>(
    `select t.${key} as key, t.${column} as stored, x.actual, count(*) over () as count
    from ${table} t cross join lateral (select ${actual} as actual) x
    where ${where} and t.${column} is distinct from x.actual limit ${namedRows}`,
  )
  const count = rows[0]?.count ?? 0
  for (const row of rows) {
    progress.say(
      `${table}.${column} is ${row.stored ?? 'empty'} where ${key} is ${row.key}, and should be ${row.actual ?? 'empty'}`,
    )
  }
  if (count > rows.length) progress.say(`${table}.${column} is wrong in ${count - rows.length} more rows`)
  return count
}

async function repair(tx: Tx, { table, column, actual, where = 'true' }: Counter): Promise<number> {
  const { count } = await tx.unsafe(
    `update ${table} t set ${column} = ${actual} where ${where} and t.${column} is distinct from ${actual}`,
  )
  return count
}

/** The number of missing or incomplete files, which only a backup can bring back. */
async function checkFiles(tx: Tx, bytes: Bytes, progress: Progress): Promise<number> {
  let missing = 0
  const measured = mapStoredBlobs(tx, async blob => ({ ...blob, found: await bytes.sizeOf(blob.key) }))
  for await (const { id, key, size, found } of measured) {
    if (found === size) continue
    missing++
    progress.say(`The bytes of blob ${id} (${key}) are ${found === null ? 'missing' : `${found} instead of ${size}`}`)
  }
  return missing
}

/** StartFault with `reason` while a node is connected. PostgreSQL may not have noticed yet that a node has ended. */
export async function requireStopped(sql: Sql, reason: string): Promise<void> {
  const deadline = Date.now() + closingMs
  while ((await countNodes(sql)) > 0) {
    if (Date.now() > deadline) throw new StartFault(reason)
    await delay(closingMs / 10)
  }
}

async function countNodes(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from pg_stat_activity
    where datname = current_database() and application_name = 'parley' and pid <> pg_backend_pid()`
  return row!.count
}
