import { randomBytes } from 'node:crypto'
import { directCommand, type Direct, type DirectWork } from '../actors/direct.ts'
import { server, systemUser } from '../actors/principal.ts'
import { StartFault } from '../lib/errors.ts'
import type { Secret } from '../lib/secret.ts'
import type { Sql } from '../storage/sql.ts'
import { hashOf } from './credentials.ts'

/** Any fixed number: of two nodes that start at once on a new database, only one makes a key. */
const firstKeyLock = 7_213_003

interface KeySettings {
  apiKey: Secret | null
  /** All others are to be revoked. */
  isOnlyKey: boolean
}

/**
 * Sees to it that there is an API key: the one from the configuration is added if it is not known yet; without one,
 * a database that has no key gets a random one, which is returned, because this is the only time that it is known.
 * Throws a StartFault where the one from the configuration was revoked: that cannot be undone.
 */
export async function ensureKey(
  { sql, direct, now }: { sql: Sql; direct: Direct; now: Date },
  { apiKey, isOnlyKey }: KeySettings,
): Promise<string | null> {
  if (apiKey !== null) {
    const hash = Buffer.from(hashOf(apiKey.reveal()), 'base64')
    await insertKey(sql, hash, 'API_KEY', now)
    if (await isRevoked(sql, hash)) throw new StartFault('The key of API_KEY was revoked. Choose another one.')
    if (isOnlyKey) await direct.run(revokeOthers, server, hash)
    return null
  }
  return sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(${firstKeyLock})`
    const [{ exists } = { exists: true }] = await tx<{ exists: boolean }[]>`select exists (select from api_keys)`
    if (exists) return null
    const key = `wys_${randomBytes(32).toString('base64url')}`
    await insertKey(tx as unknown as Sql, Buffer.from(hashOf(key), 'base64'), 'First key', now)
    return key
  })
}

/** Every node refuses them from now on, and those that are running forget them. */
const revokeOthers = directCommand('revokeOthers', async (work: DirectWork, hash: Buffer): Promise<void> => {
  const { count } = await work.sql`
    update api_keys set revoked_at = ${work.now} where hash <> ${hash} and revoked_at is null`
  if (count > 0) work.changed('keys_revoked', 'key', systemUser)
})

async function isRevoked(sql: Sql, hash: Buffer): Promise<boolean> {
  const [row] = await sql`select from api_keys where hash = ${hash} and revoked_at is not null`
  return row !== undefined
}

/** A key that was revoked stays so. */
async function insertKey(sql: Sql, hash: Buffer, name: string, now: Date): Promise<void> {
  await sql`
    insert into api_keys (hash, name, created_at) values (${hash}, ${name}, ${now}) on conflict (hash) do nothing`
}
