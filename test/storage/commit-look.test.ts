import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { lookAtCommits } from '../../src/jobs/commit-look.ts'
import { EmbeddedPostgres } from '../../src/postgres/embedded/embedded.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { createDirectory } from '../support/process.ts'

test('a snapshot changes with each commit and with nothing else, and conditions are those of the moment', async () => {
  // A PostgreSQL of its own: what is committed in any of its databases counts.
  await using dir = createDirectory()
  const log = createLog('error')
  const postgres = await EmbeddedPostgres.start({ dir: dir.path, connections: 20, isDurable: false, log, onLost() {} })
  const sql = openSql({ url: postgres.url, connections: 3, statementTimeoutMs: 5_000 })
  try {
    await sql`create table things (id int)`
    await sql`create table nodes (id text)`
    const asked = ['exists (select from things)', 'select max(id) from things']
    const look = () => lookAtCommits(sql, { node: 'this one', asked })

    const atFirst = await look()
    expect(atFirst.values).toEqual([false, null])
    await sql`select count(*) from things`
    expect(await look()).toEqual(atFirst)

    const late = await sql.reserve()
    await late`begin`
    await late`insert into things values (1)`
    await sql`insert into things values (2)`
    const between = await look()
    await late`commit`
    late.release()
    const atLast = await look()

    expect(between.values).toEqual([true, 2])
    expect(new Set([atFirst, between, atLast].map(({ snapshot }) => snapshot)).size).toBe(3)
    expect(await look()).toEqual(atLast)
  } finally {
    await sql.end()
    await postgres.stop()
  }
})
