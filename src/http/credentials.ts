import { createHash } from 'node:crypto'
import type { Environment } from '../actors/environment.ts'
import { systemUser, type Principal } from '../actors/principal.ts'
import type { Sql } from '../storage/sql.ts'

interface Known {
  principal: Principal
  expiresAt: number
}

/** Called when credentials stop being valid, so that open connections can be closed. */
export type RevocationListener = (isRevoked: (principal: Principal) => boolean) => void

/** More than enough for the users of one node; the longest unused go first. */
const capacity = 100_000

/**
 * Bearer tokens → principals. Tokens and keys are looked up by their SHA-256, so that comparing takes the same time
 * whatever is wrong with them; valid ones are kept in memory until they expire or are revoked, on any node.
 */
export class Credentials {
  readonly #sql: Sql
  readonly #now: () => Date
  readonly #known = new Map<string, Known>()
  readonly #listeners: RevocationListener[] = []

  constructor(sql: Sql, environment: Environment, now: () => Date) {
    this.#sql = sql
    this.#now = now
    environment.listen(event => {
      if (event.type === 'tokens_revoked' || event.type === 'user_trashed' || event.type === 'user_deleted') {
        this.#forget(principal => principal.user === event.entity_id && principal.kind === 'user')
      } else if (event.type === 'key_revoked') {
        this.#forget(principal => principal.kind === 'key')
      } else if (event.type === 'everything') {
        this.#known.clear()
      }
    })
  }

  onRevoked(listener: RevocationListener): void {
    this.#listeners.push(listener)
  }

  /** The principal at once if it is known, a promise if it must be looked up; null for what is not valid. */
  authenticate(token: string): Principal | null | Promise<Principal | null> {
    const hash = hashOf(token)
    const known = this.#known.get(hash)
    if (known === undefined) return this.#find(token, hash)
    if (known.expiresAt > this.#now().getTime()) return known.principal
    this.#known.delete(hash)
    return null
  }

  /** When a principal's credential ends, in milliseconds; Infinity for one that does not expire. */
  expiryOf(principal: Principal): number {
    return this.#known.get(principal.credential)?.expiresAt ?? 0
  }

  async #find(token: string, hash: string): Promise<Principal | null> {
    const bytes = Buffer.from(hash, 'base64')
    const found = token.startsWith('wys_') ? await this.#findKey(bytes, hash) : await this.#findToken(bytes, hash)
    if (found === null || found.expiresAt <= this.#now().getTime()) return null
    this.#known.set(hash, found)
    if (this.#known.size > capacity) this.#known.delete(this.#known.keys().next().value!)
    return found.principal
  }

  async #findKey(bytes: Buffer, credential: string): Promise<Known | null> {
    const [row] = await this.#sql<{ expires_at: Date | null }[]>`
      select expires_at from api_keys where hash = ${bytes} and revoked_at is null`
    if (row === undefined) return null
    return {
      principal: { kind: 'key', user: systemUser, credential },
      expiresAt: row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
    }
  }

  async #findToken(bytes: Buffer, credential: string): Promise<Known | null> {
    const [row] = await this.#sql<{ user_id: number; expires_at: Date }[]>`
      select t.user_id, t.expires_at from tokens t join users u on u.id = t.user_id
      where t.hash = ${bytes} and u.trashed_at is null`
    if (row === undefined) return null
    return { principal: { kind: 'user', user: row.user_id, credential }, expiresAt: row.expires_at.getTime() }
  }

  #forget(isRevoked: (principal: Principal) => boolean): void {
    for (const [hash, { principal }] of this.#known) if (isRevoked(principal)) this.#known.delete(hash)
    for (const listener of this.#listeners) listener(isRevoked)
  }
}

/** What is kept of a token or key: base64 of its SHA-256. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
