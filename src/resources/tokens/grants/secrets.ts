import { randomBytes } from 'node:crypto'
import { hashOf } from '../../../auth/credentials.ts'

/**
 * A secret of a grant: its kind, the half that all secrets of the grant share, and a half of its own, 144 random bits each. An
 * earlier secret is so told from one that never was.
 */
export type SecretKind = 'code' | 'refresh'

const prefixes: Record<SecretKind, string> = { code: 'wyc_', refresh: 'wyr_' }

const form = /^(wyc_|wyr_)([\w-]{24})([\w-]{24})$/

/** 24 characters. */
export const newHalf = (): string => randomBytes(18).toString('base64url')

export function toSecret(kind: SecretKind, family: string, half: string): string {
  return prefixes[kind] + family + half
}

/** The family, in the clear, and the hashes of both halves; null where it has not the form of this kind. */
export function readSecret(kind: SecretKind, text: string) {
  const [, prefix, family = '', half = ''] = form.exec(text) ?? []
  return prefix === prefixes[kind] ? { text: family, family: hashOf(family), secret: hashOf(half) } : null
}
