import { GlobalCommands } from '../engine/global/global-commands.ts'
import { SharedLog } from '../log/shared-log.ts'
import { server } from '../auth/principal.ts'
import { newApiKey } from '../auth/api-key.ts'
import { listKeys, orderFields, type KeyRow } from '../auth/key-store.ts'
import { Problem, StartFault } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { createKey, revokeKey } from '../resources/keys/commands.ts'
import { prepareEvents } from '../jobs/storage-jobs.ts'
import { migrate } from '../postgres/migrate.ts'
import { toPage } from '../api/page.ts'
import { openSql, type Sql } from '../postgres/sql.ts'

/** The most keys in a list; active ones come first. */
const listLimit = 100

/**
 * Manages the API keys of a deployment for an operator without a key, by the API's own commands and with entries in the
 * audit log.
 */
export class KeyOffice {
  readonly #sql: Sql
  readonly #globalCommands: GlobalCommands

  private constructor(sql: Sql) {
    this.#sql = sql
    this.#globalCommands = new GlobalCommands(sql, new SharedLog(sql), () => new Date())
  }

  /** Migrates the schema, as the start of a node does. */
  static async open(url: string, log: Log): Promise<KeyOffice> {
    const sql = openSql({ url, connections: 2, statementTimeoutMs: 30_000, applicationName: 'parley admin' })
    try {
      await migrate(sql, log)
      await prepareEvents(sql, new Date())
      return new KeyOffice(sql)
    } catch (error) {
      await sql.end({ timeout: 1 })
      throw error
    }
  }

  /** Creates a key and returns it; only its hash is stored. */
  async create(name: string, days: number | null): Promise<string> {
    const { key, ...stored } = newApiKey()
    const expiresAt = days === null ? null : new Date(Date.now() + days * 86_400_000)
    await this.#globalCommands.run(createKey, server, { name, ...stored, expiresAt })
    return key
  }

  list(): Promise<KeyRow[]> {
    const page = { ...toPage({}, orderFields, 'id'), take: listLimit }
    return listKeys(this.#sql, { q: undefined, isRevoked: undefined }, page)
  }

  /** Revokes a key; running nodes refuse it within two seconds. StartFault for an unknown key, and for the last one. */
  async revoke(id: number): Promise<void> {
    try {
      await this.#globalCommands.run(revokeKey, server, { id, isForced: true })
    } catch (error) {
      throw error instanceof Problem ? new StartFault(error.message, { cause: error }) : error
    }
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 1 })
  }
}

/** A line for people that identifies the key and shows whether it is valid. */
export function describeKey({ id, name, prefix, created_at, expires_at, revoked_at, last_used_at }: KeyRow): string {
  const day = (time: Date) => time.toISOString().slice(0, 10)
  const state =
    revoked_at !== null
      ? `revoked ${day(revoked_at)}`
      : expires_at === null
        ? 'valid'
        : `${expires_at > new Date() ? 'valid until' : 'expired'} ${day(expires_at)}`
  const used = last_used_at === null ? 'never used' : `used ${day(last_used_at)}`
  return [id, prefix ?? '', name, `made ${day(created_at)}`, used, state].join('\t')
}
