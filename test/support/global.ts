import { chmodSync, existsSync, globSync, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { createLog } from '../../src/lib/log.ts'
import { isServed } from '../../src/postgres/embedded/cluster.ts'
import { EmbeddedPostgres } from '../../src/postgres/embedded/embedded.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { inDatabase, template } from './database.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
  }
}

/**
 * Starts one PostgreSQL for all tests, with a migrated database to clone from, in a new folder, where all temporary files
 * of the tests are, too. It is thrown away afterwards.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(chooseParent(), 'parley-test-'))
  chmodSync(dir, 0o755)
  process.env.TMPDIR = dir
  const postgres = await EmbeddedPostgres.start({
    dir,
    connections: 300,
    // Durability is for the tests in test/start, which start a PostgreSQL of their own.
    isDurable: false,
    log: createLog('error'),
    onLost: error => {
      throw error
    },
  })
  const admin = openSql({ url: postgres.url, connections: 1, statementTimeoutMs: 30_000 })
  await admin.unsafe(`create database ${template}`)
  await admin.end()
  const sql = openSql({ url: inDatabase(postgres.url, template), connections: 1, statementTimeoutMs: 30_000 })
  await migrate(sql, createLog('error'))
  await sql.end()
  project.provide('postgresUrl', postgres.url)

  return async () => {
    await postgres.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** For the databases that are there at a time, and the logs of what is written to them. */
const neededBytes = 8 * 2 ** 30

/** What a run leaves that was killed goes with the next one; a younger folder may not be served yet. */
const startMs = 600_000

/**
 * A folder in memory, where there is one with enough room. Each test makes a database, of some 350 files, and removes it;
 * before ext4 makes a file, it looks at those that were deleted in the last minute, and that took half of all processor
 * time.
 */
function chooseParent(): string {
  const memory = '/dev/shm'
  if (!existsSync(memory)) return tmpdir()
  for (const left of globSync(`${memory}/parley-test-*`)) {
    const isOld = Date.now() - statSync(left).mtimeMs > startMs
    if (isOld && !isServed(join(left, 'postgres'))) rmSync(left, { recursive: true, force: true })
  }
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize < neededBytes ? tmpdir() : memory
}
