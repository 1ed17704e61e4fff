import { hash } from 'node:crypto'
import type { SharedLog } from '../log/shared-log.ts'
import { systemUser, type Principal } from './principal.ts'
import type { Sql } from '../postgres/sql.ts'
import { recordUse } from './key-store.ts'
import { batchLoads } from '../postgres/batch-loads.ts'

interface Known {
  principal: Principal
  expiresAt: number
  /** When its next use is to be written down. */
  noteAt: number
}

/** Whose credential it is; null for the end of one that has none. */
interface Holder {
  kind: 'key' | 'user'
  user: number
  expires_at: Date | null
}

/** Called when credentials stop being valid, so that open connections can be closed. */
export type RevocationListener = (isRevoked: (principal: Principal) => boolean) => void

/** How often a node writes down that a key was used. The API says to a minute. */
const notePeriodMs = 60_000

/** More than enough for the users of one node; those known longest go first. */
const capacity = 100_000

/**
 * Bearer tokens → principals. Tokens and keys are looked up by their SHA-256, so that comparing takes the same time
 * whatever is wrong with them; valid ones are kept in memory until they expire or are revoked, on any node.
 * Those that come again are found as they are, because hashing each took a twentieth of a send's time: a guess meets a
 * token there only if it has all of its 32-bit hash, which V8 seeds at random, so the time tells nothing of what is right.
 */
export class Credentials {
  readonly #sql: Sql
  readonly #now: () => Date
  readonly #known = new Map<string, Known>()
  /** Those of them that came more than once, by the tokens themselves. */
  readonly #heard = new Map<string, Known>()
  readonly #seenAt = new Map<number, number>()
  readonly #listeners: RevocationListener[] = []
  /** Counts revocations: a look-up that began before one may have found what it ended. */
  #revocations = 0

  constructor(sql: Sql, sharedLog: SharedLog, now: () => Date) {
    this.#sql = sql
    this.#now = now
    sharedLog.listen(event => {
      if (event.type === 'tokens_revoked' || event.type === 'user_trashed' || event.type === 'user_deleted') {
        this.#forget(principal => principal.user === event.entity_id && principal.kind === 'user')
      } else if (event.type === 'keys_revoked') {
        this.#forget(principal => principal.kind === 'key')
      } else if (event.type === 'everything') {
        this.#revocations++
        this.#known.clear()
        this.#heard.clear()
      }
    })
  }

  onRevoked(listener: RevocationListener): void {
    this.#listeners.push(listener)
  }

  /** The principal at once if it is known; else a promise, of null for what is not valid. */
  authenticate(token: string): Principal | Promise<Principal | null> {
    let known = this.#heard.get(token)
    if (known === undefined) {
      const hash = hashOf(token)
      known = this.#known.get(hash)
      if (known === undefined) return this.#find(token, hash)
      this.#heard.set(token, known)
    }
    const now = this.#now().getTime()
    if (known.expiresAt > now) return this.#admit(known, now)
    this.#known.delete(known.principal.credential)
    this.#heard.delete(token)
    return Promise.resolve(null)
  }

  /** When the last request with a token of a user came to this node, in milliseconds. */
  get seenAt(): ReadonlyMap<number, number> {
    return this.#seenAt
  }

  /** When a principal's credential ends, in milliseconds; Infinity for one that does not expire. */
  expiryOf(principal: Principal): number {
    return this.#known.get(principal.credential)?.expiresAt ?? 0
  }

  async #find(token: string, hash: string): Promise<Principal | null> {
    const find = token.startsWith('wys_') ? findKeys : findTokens
    let found: Holder | undefined
    let before: number
    do {
      before = this.#revocations
      found = (await find(this.#sql, [hash])).get(hash)
    } while (before !== this.#revocations)
    const now = this.#now().getTime()
    const expiresAt = found?.expires_at?.getTime() ?? Number.POSITIVE_INFINITY
    if (found === undefined || expiresAt <= now) return null
    const principal = { kind: found.kind, user: found.user, credential: hash }
    const known = { principal, expiresAt, noteAt: found.kind === 'key' ? 0 : Number.POSITIVE_INFINITY }
    this.#known.set(hash, known)
    if (this.#known.size > capacity) {
      this.#known.delete(this.#known.keys().next().value!)
      this.#heard.clear()
    }
    return this.#admit(known, now)
  }

  #admit(known: Known, now: number): Principal {
    const { principal } = known
    if (now >= known.noteAt) this.#note(known, now)
    this.#seenAt.set(principal.user, now)
    if (this.#seenAt.size > capacity) this.#seenAt.delete(this.#seenAt.keys().next().value!)
    return principal
  }

  /** In the background: what fails is written with the use a minute later. */
  #note(known: Known, now: number): void {
    known.noteAt = now + notePeriodMs
    recordUse(this.#sql, known.principal.credential, new Date(now)).catch(() => {})
  }

  #forget(isRevoked: (principal: Principal) => boolean): void {
    this.#revocations++
    for (const [hash, { principal }] of this.#known) if (isRevoked(principal)) this.#known.delete(hash)
    this.#heard.clear()
    for (const listener of this.#listeners) listener(isRevoked)
  }
}

/** What is kept of a token or key: base64 of its SHA-256. */
export function hashOf(token: string): string {
  return hash('sha256', token, 'base64')
}

/** The holders of some hashes. Together, because after a restart everybody comes at once, and strangers may as well. */
type Find = (sql: Sql, hashes: readonly string[]) => Promise<ReadonlyMap<string, Holder>>

/** Served by api_keys_hash_key. */
const findKeys: Find = batchLoads(async (sql, hashes) => {
  const rows = await sql<{ hash: string; expires_at: Date | null }[]>`
    select encode(hash, 'base64') as hash, expires_at from api_keys
    where hash in (select decode(h, 'base64') from unnest(${hashes}::text[]) as h) and revoked_at is null`
  return new Map(rows.map(({ hash, expires_at }) => [hash, { kind: 'key', user: systemUser, expires_at }]))
})

/** Served by the primary keys of tokens and users. */
const findTokens: Find = batchLoads(async (sql, hashes) => {
  const rows = await sql<{ hash: string; user: number; expires_at: Date }[]>`
    select encode(t.hash, 'base64') as hash, t.user_id as "user", t.expires_at
    from tokens t join users u on u.id = t.user_id
    where t.hash in (select decode(h, 'base64') from unnest(${hashes}::text[]) as h) and u.trashed_at is null`
  return new Map(rows.map(({ hash, user, expires_at }) => [hash, { kind: 'user', user, expires_at }]))
})
