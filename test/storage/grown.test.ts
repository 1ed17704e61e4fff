import { expect, test } from 'vitest'
import { storageJobs } from '../../src/jobs/storage-jobs.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

/** The job, as it is run on every node. */
function jobOf({ sql }: Database) {
  const keep = { events: 7, audit: 365 } as unknown as Parameters<typeof storageJobs>[1]
  const job = storageJobs(sql, keep, () => new Date()).find(({ name }) => name === 'analyse tables that have grown')
  return () => job!.run(new AbortController().signal)
}

async function rowsExpected({ sql }: Database, table: string): Promise<number> {
  const [row] = await sql<
    { rows: number }[]
  >`select reltuples::bigint as rows from pg_class where oid = ${table}::regclass`
  return row!.rows
}

test.each(['never analysed', 'analysed while it was empty'])(
  'a table that was %s is looked at as soon as it has grown, and others are left alone',
  async before => {
    await using database = await createDatabase()
    const { sql } = database
    const analyse = jobOf(database)
    for (const table of ['directories', 'users']) {
      await sql.unsafe(`alter table ${table} set (autovacuum_enabled = false)`)
      if (before !== 'never analysed') await sql.unsafe(`analyze ${table}`)
    }
    const unseen = await rowsExpected(database, 'users')

    await sql.begin(async tx => {
      await tx`insert into directories (name, created_at) select 'directory ' || n, now() from generate_series(1, 5000) n`
      await tx`select pg_stat_force_next_flush()`
    })

    await eventually(async () => expect(await analyse()).toBe(1))
    expect(await rowsExpected(database, 'directories')).toBe(5_000)
    expect(await rowsExpected(database, 'users')).toBe(unseen)
    expect(await analyse()).toBe(0)
  },
)
