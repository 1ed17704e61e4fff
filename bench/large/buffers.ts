import postgres from 'postgres'
import { openSql, type Sql } from '../../src/postgres/sql.ts'

/**
 * Counts the pages of 8 KiB that the database looks at, by pg_stat_statements. In a database of ours it is set up here and
 * is there after a restart; elsewhere it is used where it is installed.
 */
export class Buffers {
  readonly #sql: Sql

  private constructor(sql: Sql) {
    this.#sql = sql
  }

  /** True where the database must be restarted before they can be counted. */
  static async prepare(url: string): Promise<boolean> {
    const sql = openSql({ url, connections: 1, statementTimeoutMs: 10_000 })
    try {
      await sql`create extension if not exists pg_stat_statements`
      const [row] = await sql<{ libraries: string }[]>`select current_setting('shared_preload_libraries') as libraries`
      if (row!.libraries.includes('pg_stat_statements')) return false
      await sql`alter system set shared_preload_libraries = 'pg_stat_statements'`
      return true
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  /** Null where nothing counts them. */
  static async open(url: string): Promise<Buffers | null> {
    const sql = openSql({ url, connections: 1, statementTimeoutMs: 10_000 })
    const buffers = new Buffers(sql)
    try {
      await buffers.count()
      return buffers
    } catch (error) {
      await buffers.close()
      if (error instanceof postgres.PostgresError) return null
      throw error
    }
  }

  /** All that were looked at so far, by statements other than this one. */
  async count(): Promise<number> {
    const [row] = await this.#sql<{ count: number }[]>`
      select coalesce(sum(shared_blks_hit + shared_blks_read), 0)::bigint as count from pg_stat_statements
      where query not like '%pg_stat_statements%'`
    return row!.count
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 1 })
  }
}
