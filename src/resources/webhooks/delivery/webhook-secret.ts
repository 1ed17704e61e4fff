import type { Vault } from '../../../lib/vault.ts'

/** The current secret, or the previous one, which signs too for a while. */
type Column = 'secret' | 'old_secret'

/** The stored form of a webhook's secret. */
export function sealSecret(vault: Vault, secret: string | null, webhook: number, column: Column = 'secret') {
  return secret === null ? null : vault.seal(secret, `webhooks:${column}:${webhook}`)
}

/** Throws CannotOpen. */
export function openSecret(vault: Vault, stored: string | null, webhook: number, column: Column = 'secret') {
  return stored === null ? null : vault.open(stored, `webhooks:${column}:${webhook}`)
}
