import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { openSql, type Sql } from '../../src/postgres/sql.ts'
import { eventually } from './eventually.ts'

/** The name of the migrated database that others are cloned from. */
export const template = 'template_parley'

/** Its files are copied as they are: the other way, which logs every page, takes twice the time. */
const clone = `template ${template} strategy file_copy`

export interface Database extends AsyncDisposable {
  url: string
  /** A pool for what the test itself asks; it connects on first use. */
  sql: Sql
}

/**
 * A database of its own, dropped at the end, whoever is still connected. `kind` ends `create database`: by default, it
 * has the current schema and nothing in it.
 */
export async function createDatabase(kind = clone): Promise<Database> {
  const server = inject('postgresUrl')
  const name = `test_${randomBytes(6).toString('hex')}`
  const url = inDatabase(server, name)
  const sql = openSql({ url, connections: 4, statementTimeoutMs: 30_000 })
  // PostgreSQL refuses to clone while anybody, such as autovacuum, looks into the template.
  await asAdmin(server, admin =>
    eventually(() => admin.unsafe(`create database ${name} ${kind}`), { timeoutMs: 10_000 }),
  )
  return {
    url,
    sql,
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 })
      rmSync(dataDirOf(url), { recursive: true, force: true })
      await asAdmin(server, admin => admin.unsafe(`drop database ${name} with (force)`))
    },
  }
}

/** Copies a database as it is now. The function returned puts the copy in its place, whoever is connected. */
export async function copyDatabase({ url }: Database): Promise<() => Promise<void>> {
  const server = inject('postgresUrl')
  const name = url.split('/').at(-1)!
  const copy = `${name}_copy`
  // Nobody may be connected to what is copied, and the nodes of a test come back at once.
  const take = (from: string, to: string, admin: Sql) =>
    eventually(
      async () => {
        await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${from}`
        await admin.unsafe(`create database ${to} template ${from} strategy file_copy`)
      },
      { timeoutMs: 10_000 },
    )
  await asAdmin(server, admin => take(name, copy, admin))
  return () =>
    asAdmin(server, async admin => {
      await admin.unsafe(`drop database ${name} with (force)`)
      await take(copy, name, admin)
      await admin.unsafe(`drop database ${copy} with (force)`)
    })
}

/** The data directory of all nodes of a database, in which their uploads are; removed with the database. */
export function dataDirOf(url: string): string {
  return join(tmpdir(), `parley-${url.split('/').at(-1)}`)
}

/** A default of the database's, for connections that are made from now on. */
export async function setDefault({ sql }: Database, setting: string): Promise<void> {
  const [{ name } = { name: '' }] = await sql<{ name: string }[]>`select current_database() as name`
  await sql.unsafe(`alter database ${name} set ${setting}`)
}

/** The same server, another database. */
export function inDatabase(url: string, name: string): string {
  return url.replace(/\/[^/]*$/, `/${name}`)
}

async function asAdmin(url: string, run: (admin: Sql) => Promise<unknown>): Promise<void> {
  const admin = openSql({ url, connections: 1, statementTimeoutMs: 30_000 })
  try {
    await run(admin)
  } finally {
    await admin.end()
  }
}
