import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { SharedLog } from '../log/shared-log.ts'
import { isHostToken, type HostTokens } from './host-tokens/host-tokens.ts'
import { systemUser, type Principal } from './principal.ts'
import type { Sql } from '../postgres/sql.ts'
import { recordUse } from './key-store.ts'
import { batchLoads } from '../postgres/batch-loads.ts'

interface Known {
  principal: Principal
  expiresAt: number
  /** When it ends by its own words; a token of the host is accepted for a little longer, because clocks differ. */
  endsAt: number
  /** When its next use is to be recorded, in milliseconds since 1970. */
  recordAt: number
}

/** The owner of a credential; `expires_at` is null for one that does not expire. */
interface Holder {
  kind: 'key' | 'user'
  user: number
  grant?: number
  expires_at: Date | null
}

/** A credential that is valid, or was. Times in milliseconds since 1970. */
interface Found {
  kind: 'key' | 'user'
  user: number
  signedBy?: string
  grant?: number
  endsAt: number
  expiresAt: number
}

/** Called when credentials stop being valid, so that open connections can be closed. */
export type RevocationListener = (isRevoked: (principal: Principal) => boolean) => void

/** How often a node records the use of a key. The API promises a precision of a minute. */
const recordPeriodMs = 60_000

/** More than the active users of one node. */
const capacity = 100_000

/** The most characters of tokens that are kept as they are: those of hosts have a thousand or more. */
const tokenCharacters = 32 * 1024 * 1024

/**
 * Maps bearer tokens to principals. Tokens and keys are looked up by their SHA-256, so that timing says nothing about
 * how much of a guess is right; valid ones, and valid tokens of the host, stay in memory until they expire or are revoked, on
 * any node. The least recently used are evicted first.
 *
 * A repeated token is found by its text, because hashing each time took a twentieth of a send. That leaks nothing: V8
 * compares a guess with a token only where their 32-bit hashes, seeded at random, are equal.
 */
export class Credentials {
  readonly #sql: Sql
  readonly #now: () => Date
  /** Null where tokens of a host are not accepted. */
  readonly #host: HostTokens | null
  readonly #known = new LRUCache<string, Known>({ max: capacity })
  /** Credentials that were used more than once, by the token itself. */
  readonly #byToken = new LRUCache<string, Known>({
    max: capacity,
    maxSize: tokenCharacters,
    sizeCalculation: (_, token) => token.length,
  })
  readonly #seenAt = new Map<number, number>()
  readonly #listeners: RevocationListener[] = []
  /**
   * Counts revocations: a lookup that overlaps with one is repeated, because it may have found a revoked credential.
   */
  #revocations = 0

  constructor(sql: Sql, sharedLog: SharedLog, now: () => Date, host: HostTokens | null = null) {
    this.#sql = sql
    this.#now = now
    this.#host = host
    host?.onKeysGone(gone => this.#forget(({ signedBy }) => signedBy !== undefined && gone.has(signedBy)))
    sharedLog.listen(event => {
      if (event.type === 'tokens_revoked' || event.type === 'user_trashed' || event.type === 'user_deleted') {
        this.#forget(principal => principal.user === event.entity_id && principal.kind === 'user')
      } else if (event.type === 'grant_ended') {
        this.#forget(principal => principal.grant === event.entity_id)
      } else if (event.type === 'keys_revoked') {
        this.#forget(principal => principal.kind === 'key')
      } else if (event.type === 'everything') {
        this.#revocations++
        this.#known.clear()
        this.#byToken.clear()
      }
    })
  }

  onRevoked(listener: RevocationListener): void {
    this.#listeners.push(listener)
  }

  /**
   * The principal of a token: synchronously where it is known, otherwise as a promise. The promise resolves with null
   * where the token is not valid, and rejects with a refusal that says why where it is one of the host. `addressOf` gives
   * the client's address.
   */
  authenticate(token: string, addressOf: () => string): Principal | Promise<Principal | null> {
    let known = this.#byToken.get(token)
    if (known === undefined) {
      const hash = hashOf(token)
      known = this.#known.get(hash)
      if (known === undefined) return this.#find(token, hash, addressOf)
      this.#byToken.set(token, known)
    }
    const now = this.#now().getTime()
    if (known.expiresAt > now) return this.#admit(known, now)
    this.#known.delete(known.principal.credential)
    this.#byToken.delete(token)
    return this.#find(token, known.principal.credential, addressOf)
  }

  /** User → when this node last got a request with a token of the user, in milliseconds since 1970. */
  get seenAt(): ReadonlyMap<number, number> {
    return this.#seenAt
  }

  /**
   * When a principal's credential expires, in milliseconds since 1970; Infinity where it does not, 0 where it is not
   * known.
   */
  expiryOf(principal: Principal): number {
    const known = this.#known.peek(principal.credential)
    if (known === undefined) return 0
    return known.endsAt > this.#now().getTime() ? known.endsAt : known.expiresAt
  }

  async #find(token: string, hash: string, addressOf: () => string): Promise<Principal | null> {
    const address = this.#host !== null && isHostToken(token) ? addressOf() : null
    let found: Found | null
    let before: number
    do {
      before = this.#revocations
      found = address === null ? await this.#findOwn(token, hash) : await this.#host!.verify(token, address)
    } while (before !== this.#revocations)
    const now = this.#now().getTime()
    if (found === null || found.expiresAt <= now) return null
    const { kind, user, signedBy, grant, endsAt, expiresAt } = found
    const principal: Principal = {
      ...{ kind, user, credential: hash },
      ...(signedBy !== undefined && { signedBy }),
      ...(grant !== undefined && { grant }),
    }
    const known = { principal, endsAt, expiresAt, recordAt: kind === 'key' ? 0 : Number.POSITIVE_INFINITY }
    this.#known.set(hash, known)
    return this.#admit(known, now)
  }

  async #findOwn(token: string, hash: string): Promise<Found | null> {
    const find = token.startsWith('wys_') ? findKeys : findTokens
    const holder = (await find(this.#sql, [hash])).get(hash)
    if (holder === undefined) return null
    const expiresAt = holder.expires_at?.getTime() ?? Number.POSITIVE_INFINITY
    return { ...holder, endsAt: expiresAt, expiresAt }
  }

  #admit(known: Known, now: number): Principal {
    const { principal } = known
    if (now >= known.recordAt) this.#recordUse(known, now)
    this.#seenAt.set(principal.user, now)
    if (this.#seenAt.size > capacity) this.#seenAt.delete(this.#seenAt.keys().next().value!)
    return principal
  }

  /** Runs in the background; after a failure, the use a minute later is recorded instead. */
  #recordUse(known: Known, now: number): void {
    known.recordAt = now + recordPeriodMs
    recordUse(this.#sql, known.principal.credential, new Date(now)).catch(() => {})
  }

  #forget(isRevoked: (principal: Principal) => boolean): void {
    this.#revocations++
    for (const [hash, { principal }] of [...this.#known]) if (isRevoked(principal)) this.#known.delete(hash)
    this.#byToken.clear()
    for (const listener of this.#listeners) listener(isRevoked)
  }
}

/** The stored form of a token or key: its SHA-256 in base64. */
export function hashOf(token: string): string {
  return hash('sha256', token, 'base64')
}

/**
 * Finds the owners of credentials by hash. Batched, because after a restart all clients come at once, and so may
 * strangers.
 */
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
  const rows = await sql<{ hash: string; user: number; grant: number | null; expires_at: Date }[]>`
    select encode(t.hash, 'base64') as hash, t.user_id as "user", t.grant_id as "grant", t.expires_at
    from tokens t join users u on u.id = t.user_id
    where t.hash in (select decode(h, 'base64') from unnest(${hashes}::text[]) as h) and u.trashed_at is null`
  return new Map(
    rows.map(({ hash, user, grant, expires_at }) => [
      hash,
      { kind: 'user', user, ...(grant !== null && { grant }), expires_at },
    ]),
  )
})
