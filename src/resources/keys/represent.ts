import type { Principal } from '../../auth/principal.ts'
import type { KeyRow } from '../../auth/key-store.ts'

export function showKey(row: KeyRow, by: Principal) {
  const { id, name, prefix, created_at, expires_at, revoked_at, last_used_at, hash } = row
  return { id, name, prefix, created_at, expires_at, revoked_at, last_used_at, is_current: hash === by.credential }
}
