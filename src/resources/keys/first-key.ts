import { globalCommand, type GlobalCommands, type GlobalWork } from '../../engine/global-commands.ts'
import { server, systemUser } from '../../auth/principal.ts'
import { audit } from '../../audit/audit.ts'
import { StartFault } from '../../lib/errors.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Sql } from '../../postgres/sql.ts'
import { newApiKey, toApiKey } from '../../auth/api-key.ts'
import { hasKeys, insertKey, keepKey, revokeOtherKeys } from '../../auth/key-store.ts'

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
  { sql, globalCommands, now }: { sql: Sql; globalCommands: GlobalCommands; now: Date },
  { apiKey, isOnlyKey }: KeySettings,
): Promise<string | null> {
  if (apiKey !== null) {
    const { id, revoked_at } = await keepKey(sql, { ...toApiKey(apiKey.reveal()), name: 'API_KEY', now })
    if (revoked_at !== null) throw new StartFault('The key of API_KEY was revoked. Choose another one.')
    if (isOnlyKey) await globalCommands.run(revokeOthers, server, id)
    return null
  }
  return sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(${firstKeyLock})`
    if (await hasKeys(tx as unknown as Sql)) return null
    const made = newApiKey()
    await insertKey(tx as unknown as Sql, { ...made, name: 'First key', now, expiresAt: null })
    return made.key
  })
}

/** Every node refuses them from now on, and those that are running forget them. */
const revokeOthers = globalCommand('revokeOthers', async (work: GlobalWork, id: number): Promise<void> => {
  const count = await revokeOtherKeys(work.sql, id, work.now)
  if (count === 0) return
  audit(work, { action: 'keys_revoked', target: { type: 'key', id, name: 'API_KEY' }, after: { others: count } })
  work.changed('keys_revoked', 'key', systemUser)
})
