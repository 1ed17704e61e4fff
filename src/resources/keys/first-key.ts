import { globalCommand, type GlobalWork } from '../../engine/global/command.ts'
import type { GlobalCommands } from '../../engine/global/global-commands.ts'
import { server, systemUser } from '../../auth/principal.ts'
import { audit } from '../../audit/audit.ts'
import { StartFault } from '../../lib/errors.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Sql } from '../../postgres/sql.ts'
import { newApiKey, toApiKey } from '../../auth/api-key.ts'
import { hasKeys, insertKey, keepKey, removeKey, revokeOtherKeys } from '../../auth/key-store.ts'

/** An arbitrary fixed number: of two nodes that start together on a new database, only one makes a key. */
const firstKeyLock = 7_213_003

interface KeySettings {
  apiKey: Secret | null
  /** True where all other keys are to be revoked. */
  isOnlyKey: boolean
}

/**
 * Ensures that there is an API key: adds the configured one; without one, makes a random key in a database without keys
 * and returns it, because only its hash is stored. StartFault where the configured key was revoked, which cannot be
 * undone.
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
    if (await hasKeys(tx)) return null
    const made = newApiKey()
    await insertKey(tx, { ...made, name: 'First key', now, expiresAt: null })
    return made.key
  })
}

/** Removes a key that `ensureKey` has made and that is known to nobody: the next start makes another one. */
export async function withdrawKey(sql: Sql, apiKey: string): Promise<void> {
  await removeKey(sql, toApiKey(apiKey).hash)
}

/** Every node refuses them from now on, and running nodes evict them. */
const revokeOthers = globalCommand('revokeOthers', async (work: GlobalWork, id: number): Promise<void> => {
  const count = await revokeOtherKeys(work.sql, id, work.now)
  if (count === 0) return
  audit(work, { action: 'keys_revoked', target: { type: 'key', id, name: 'API_KEY' }, after: { others: count } })
  work.changed('keys_revoked', 'key', systemUser)
})
