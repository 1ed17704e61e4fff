import { randomBytes } from 'node:crypto'
import type { Secret } from '../lib/secret.ts'
import type { Sql } from '../storage/sql.ts'
import { hashOf } from './credentials.ts'

/** Any fixed number: of two nodes that start at once on a new database, only one makes a key. */
const firstKeyLock = 7_213_003

/**
 * Sees to it that there is an API key: the one from the configuration is added if it is not known yet; without one,
 * a database that has no key gets a random one, which is returned, because this is the only time that it is known.
 */
export async function ensureKey(sql: Sql, configured: Secret | null, now: Date): Promise<string | null> {
  if (configured !== null) {
    await insertKey(sql, configured.reveal(), 'API_KEY', now)
    return null
  }
  return sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(${firstKeyLock})`
    const [{ exists } = { exists: true }] = await tx<{ exists: boolean }[]>`select exists (select from api_keys)`
    if (exists) return null
    const key = `wys_${randomBytes(32).toString('base64url')}`
    await insertKey(tx as unknown as Sql, key, 'First key', now)
    return key
  })
}

/** A key that was revoked stays so. */
async function insertKey(sql: Sql, key: string, name: string, now: Date): Promise<void> {
  await sql`
    insert into api_keys (hash, name, created_at) values (${Buffer.from(hashOf(key), 'base64')}, ${name}, ${now})
    on conflict (hash) do nothing`
}
