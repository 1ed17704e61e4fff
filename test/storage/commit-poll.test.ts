import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { commitPoll, CommitWatch } from '../../src/jobs/commit-poll.ts'
import { EmbeddedPostgres } from '../../src/postgres/embedded/embedded.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { createDirectory } from '../support/process.ts'

test('nobody looks again before something was committed, or where a look has failed', async () => {
  // A PostgreSQL of its own: what is committed in any of its databases counts.
  await using dir = createDirectory()
  const log = createLog('error')
  const postgres = await EmbeddedPostgres.start({ dir: dir.path, connections: 20, isDurable: false, log, onLost() {} })
  const sql = openSql({ url: postgres.url, connections: 3, statementTimeoutMs: 5_000 })
  try {
    await sql`create table things (id int)`
    const found: number[] = []
    const outcomes: (() => Promise<boolean | void>)[] = []
    const look = async () => {
      found.push(Number((await sql`select count(*) from things`)[0]!.count))
      return outcomes.shift()?.()
    }
    const { run } = commitPoll(new CommitWatch(sql, 0), [look])
    const poll = () => run(new AbortController().signal)

    await poll()
    await poll()
    expect(found).toEqual([0])

    const late = await sql.reserve()
    await late`begin`
    await late`insert into things values (1)`
    await sql`insert into things values (2)`
    await poll()
    await late`commit`
    late.release()
    await poll()
    await poll()
    expect(found).toEqual([0, 1, 2])

    await sql`insert into things values (3)`
    outcomes.push(
      () => Promise.reject(new Error('away')),
      async () => false,
    )
    await expect(poll()).rejects.toThrow('away')
    await poll()
    await poll()
    await poll()
    expect(found).toEqual([0, 1, 2, 3, 3, 3])
  } finally {
    await sql.end()
    await postgres.stop()
  }
})
