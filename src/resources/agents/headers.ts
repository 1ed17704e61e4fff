import type { Vault } from '../../lib/vault.ts'

export type Headers = Record<string, string>

/** Headers as the database has them: sealed, or as they were given where there were no keys. */
export type StoredHeaders = string | Headers | null

/** What has headers, in a table of which each row has a number of its own. */
interface Place {
  table: 'agent_functions' | 'agent_servers'
  id: number
}

export function sealHeaders(vault: Vault, headers: Headers | null, place: Place): StoredHeaders {
  return headers === null || !vault.isLocked ? headers : vault.seal(JSON.stringify(headers), nameOf(place))
}

/** Throws CannotOpen. */
export function openHeaders(vault: Vault, stored: StoredHeaders, place: Place): Headers | null {
  // What was sealed is what was given: an object of texts.
  return typeof stored === 'string' ? (JSON.parse(vault.open(stored, nameOf(place))) as Headers) : stored
}

function nameOf({ table, id }: Place): string {
  return `${table}:headers:${id}`
}
