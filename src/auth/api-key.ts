import { randomBytes } from 'node:crypto'
import { hashOf } from './credentials.ts'

/** An API key while it is known: later only its hash and its first characters are. */
export interface ApiKey {
  key: string
  hash: Buffer
  prefix: string
}

/** `wys_`, which tells programs that this is no access token, and four of at least 28 characters. */
const prefixLength = 8

/** A new API key, which nobody can guess. */
export function newApiKey(): ApiKey {
  return toApiKey(`wys_${randomBytes(32).toString('base64url')}`)
}

export function toApiKey(key: string): ApiKey {
  return { key, hash: Buffer.from(hashOf(key), 'base64'), prefix: key.slice(0, prefixLength) }
}
