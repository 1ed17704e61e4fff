import type { Vault } from '../../../lib/vault.ts'

/** The stored form of a webhook's secret. */
export function sealSecret(vault: Vault, secret: string | null, webhook: number): string | null {
  return secret === null ? null : vault.seal(secret, placeOf(webhook))
}

/** The stored form of the previous secret, which signs too for a while. */
export function sealOldSecret(vault: Vault, secret: string | null, webhook: number): string | null {
  return secret === null ? null : vault.seal(secret, `webhooks:old_secret:${webhook}`)
}

/** Throws CannotOpen. */
export function openOldSecret(vault: Vault, stored: string | null, webhook: number): string | null {
  return stored === null ? null : vault.open(stored, `webhooks:old_secret:${webhook}`)
}

/** Throws CannotOpen. */
export function openSecret(vault: Vault, stored: string | null, webhook: number): string | null {
  return stored === null ? null : vault.open(stored, placeOf(webhook))
}

function placeOf(webhook: number): string {
  return `webhooks:secret:${webhook}`
}
