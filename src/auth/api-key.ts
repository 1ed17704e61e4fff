import { randomBytes } from 'node:crypto'
import { hashOf } from './credentials.ts'

/** A new API key in the clear. Only its hash and its first characters are stored. */
export interface ApiKey {
  key: string
  /** In base64, as in a row. */
  hash: string
  prefix: string
}

/** `wys_`, which tells an API key from an access token, and four of at least 28 random characters. */
const prefixLength = 8

/** A new random API key. */
export function newApiKey(): ApiKey {
  return toApiKey(`wys_${randomBytes(32).toString('base64url')}`)
}

export function toApiKey(key: string): ApiKey {
  return { key, hash: hashOf(key), prefix: key.slice(0, prefixLength) }
}
