import { globalCommand, type GlobalWork } from '../../engine/global/command.ts'
import { systemUser } from '../../auth/principal.ts'
import { audit, differences } from '../../audit/audit.ts'
import * as store from '../../auth/key-store.ts'
import type { KeyRow } from '../../auth/key-store.ts'
import { NotFound } from '../../lib/errors.ts'
import { KeyIsRevoked, LastKey, OwnKey } from './schema.ts'

interface NewKeyInput {
  name: string
  /** SHA-256 of the key, in base64. The key itself is never stored, not even for a repeated request. */
  hash: string
  prefix: string
  expiresAt: Date | null
}

/** Adds a key, valid on all nodes once this has been answered: nodes do not cache unknown keys. */
export const createKey = globalCommand('createKey', async (work: GlobalWork, key: NewKeyInput): Promise<KeyRow> => {
  const made = await store.insertKey(work.sql, { ...key, now: work.now })
  const { id, name, prefix, expires_at } = made
  audit(work, { action: 'key_created', target: { type: 'key', id, name }, after: { name, prefix, expires_at } })
  return made
})

export interface KeyUpdate {
  id: number
  name?: string | undefined
  /** null: it does not expire. */
  expires_at?: Date | null | undefined
}

/** Changes the name of a key, or its expiry. Refuses with 404, with 409 for a revoked key. */
export const updateKey = globalCommand(
  'updateKey',
  async (work: GlobalWork, { id, name, expires_at }: KeyUpdate): Promise<KeyRow> => {
    const keys = await store.lockUnrevoked(work.sql)
    const before = keys.find(key => key.id === id)
    if (before === undefined) throw (await store.findKey(work.sql, id)) === null ? NotFound() : KeyIsRevoked()
    const after = {
      ...before,
      name: name ?? before.name,
      expires_at: expires_at === undefined ? before.expires_at : expires_at,
    }
    await store.updateKey(work.sql, after)
    const changed = differences(before, after, ['name', 'expires_at'])
    if (changed !== null)
      audit(work, { action: 'key_updated', target: { type: 'key', id, name: after.name }, ...changed })
    // Nodes cache when known keys expire.
    if (expires_at !== undefined) work.changed('keys_revoked', 'key', systemUser)
    return after
  },
)

export interface KeyRevocation {
  id: number
  /** Allows revoking the caller's own key. */
  isForced: boolean
}

/**
 * Revokes a key: on this node before the answer, on others within a moment. Repeating changes nothing. Refuses with 409
 * for the last valid key, without which the API could not be managed any more, and for the caller's own.
 */
export const revokeKey = globalCommand('revokeKey', async (work: GlobalWork, { id, isForced }: KeyRevocation) => {
  const keys = await store.lockUnrevoked(work.sql)
  const key = keys.find(key => key.id === id)
  if (key === undefined) {
    if ((await store.findKey(work.sql, id)) === null) throw NotFound()
    return
  }
  const valid = keys.filter(({ expires_at }) => expires_at === null || expires_at > work.now)
  if (valid.length === 1 && valid[0] === key) throw LastKey()
  if (key.hash === work.by.credential && !isForced) throw OwnKey()
  await store.revokeKey(work.sql, id, work.now)
  audit(work, { action: 'key_revoked', target: { type: 'key', id, name: key.name } })
  work.changed('keys_revoked', 'key', systemUser)
})
