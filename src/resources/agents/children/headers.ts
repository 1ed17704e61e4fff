import type { Vault } from '../../../lib/vault.ts'
import type { ChildTable } from './store.ts'

export type Headers = Record<string, string>

/** Stored headers: encrypted, or as given where no keys are configured. */
export type StoredHeaders = string | Headers | null

/** A row with headers, by table and id. */
interface Place {
  table: ChildTable
  id: number
}

export function sealHeaders(vault: Vault, headers: Headers | null, place: Place): StoredHeaders {
  return headers === null || !vault.isLocked ? headers : vault.seal(JSON.stringify(headers), nameOf(place))
}

/** Throws CannotOpen. */
export function openHeaders(vault: Vault, stored: StoredHeaders, place: Place): Headers | null {
  // The encrypted text is JSON of an object of strings.
  return typeof stored === 'string' ? (JSON.parse(vault.open(stored, nameOf(place))) as Headers) : stored
}

function nameOf({ table, id }: Place): string {
  return `${table}:headers:${id}`
}
