import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { createLog } from '../../src/lib/log.ts'
import { EmbeddedPostgres } from '../../src/postgres/embedded/embedded.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { inDatabase, template } from './database.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
  }
}

/** Starts one PostgreSQL for all tests, with a migrated database to clone from. It is thrown away afterwards. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'parley-test-'))
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
