import { prepareDatabase } from '../../src/postgres/database.ts'
import { prepareEvents } from '../../src/jobs/storage-jobs.ts'
import { createLog } from '../../src/lib/log.ts'
import { Teardown } from '../../src/lib/process/teardown.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { load } from './load.ts'
import type { Size } from './size.ts'

/** Beside those of a server. */
const connections = 100

const stopMs = 60_000

const log = createLog('warn')

/** A database that was started here, or runs elsewhere. */
export interface Data {
  url: string
  /** Ends a database of ours; what it holds stays. */
  stop: () => Promise<unknown>
}

/** The embedded database of a folder, or the one at `url`. */
export async function openData(dir: string, url: Data['url'] | null): Promise<Data> {
  if (url !== null) return { url, stop: async () => {} }
  const teardown = new Teardown(log)
  const onLost = (error: Error) => {
    throw error
  }
  const embedded = await prepareDatabase({ url: null, dataDir: dir, connections, log, teardown, onLost })
  return { url: embedded, stop: () => teardown.run(stopMs) }
}

/**
 * Sees to it that a database holds the seeded deployment and has the current schema: loads it where nothing is. Throws where
 * the database holds anything else. Says true where it was loaded now.
 */
export async function ensureLoaded(url: string, size: Size, say: (line: string) => void): Promise<boolean> {
  const sql = openSql({ url, connections: 1, statementTimeoutMs: 600_000 })
  try {
    await migrate(sql, log)
    await prepareEvents(sql, new Date())
    await sql`create table if not exists bench_size (size jsonb not null)`
    const [known] = await sql<{ size: Size }[]>`select size from bench_size`
    if (known !== undefined) {
      if (Object.entries(size).some(([name, count]) => known.size[name as keyof Size] !== count))
        throw new Error('The database was loaded with another size, or another share in the trash')
      return false
    }
    const [used] = await sql`select from users where id > 0 union all select from apps limit 1`
    if (used !== undefined) throw new Error('The database holds something else, or a load that was broken off')
    say('loads the database; once')
    const startedAt = performance.now()
    await load(url, size, say)
    await sql`insert into bench_size values (${sql.json({ ...size })})`
    say(`loaded in ${((performance.now() - startedAt) / 60_000).toFixed(1)} minutes`)
    return true
  } finally {
    await sql.end({ timeout: 1 })
  }
}
