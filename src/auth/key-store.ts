import { orderBy } from '../postgres/order.ts'
import type { Page } from '../api/page.ts'
import type { Db, Fragment, Tx } from '../postgres/sql.ts'
import { hasWords } from '../postgres/word-search.ts'

/** A row of `api_keys`. */
export interface KeyRow {
  id: number
  /** SHA-256 of the key in base64, which is the `credential` of its principals. */
  hash: string
  name: string
  /** The first characters of the key; null where they are not known. */
  prefix: string | null
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

interface NewKeyRow {
  hash: string
  prefix: string
  name: string
  now: Date
  expiresAt: Date | null
}

export const orderFields = ['id', 'name', 'created_at', 'expires_at', 'last_used_at'] as const
type OrderField = (typeof orderFields)[number]

const columns = (db: Db) =>
  db`id, encode(hash, 'base64') as hash, name, prefix, created_at, expires_at, revoked_at, last_used_at`

export async function insertKey(db: Db, { hash, prefix, name, now, expiresAt }: NewKeyRow): Promise<KeyRow> {
  const [row] = await db<KeyRow[]>`
    insert into api_keys (hash, prefix, name, created_at, expires_at)
    values (decode(${hash}, 'base64'), ${prefix}, ${name}, ${now}, ${expiresAt})
    returning ${columns(db)}`
  return row!
}

/** Inserts a key that is configured from outside, unless it exists: a revoked one stays revoked. */
export async function keepKey(db: Db, { hash, prefix, name, now }: Omit<NewKeyRow, 'expiresAt'>): Promise<KeyRow> {
  const [row] = await db<KeyRow[]>`
    insert into api_keys (hash, prefix, name, created_at) values (decode(${hash}, 'base64'), ${prefix}, ${name}, ${now})
    on conflict (hash) do update set prefix = excluded.prefix
    returning ${columns(db)}`
  return row!
}

/** Removes a key that was never used, by its hash. */
export async function removeKey(db: Db, hash: string): Promise<void> {
  await db`delete from api_keys where hash = decode(${hash}, 'base64')`
}

export async function hasKeys(db: Db): Promise<boolean> {
  const [row] = await db<{ exists: boolean }[]>`select exists (select from api_keys)`
  return row!.exists
}

export async function findKey(db: Db, id: number): Promise<KeyRow | null> {
  const [row] = await db<KeyRow[]>`select ${columns(db)} from api_keys where id = ${id}`
  return row ?? null
}

/** All keys that are not revoked, locked: of two concurrent revocations, the second sees the first. */
export function lockUnrevoked(tx: Tx): Promise<KeyRow[]> {
  return tx<KeyRow[]>`select ${columns(tx)} from api_keys where revoked_at is null order by id for update`
}

export async function updateKey(tx: Tx, { id, name, expires_at }: KeyRow): Promise<void> {
  await tx`update api_keys set name = ${name}, expires_at = ${expires_at} where id = ${id}`
}

export async function revokeKey(tx: Tx, id: number, now: Date): Promise<void> {
  await tx`update api_keys set revoked_at = ${now} where id = ${id}`
}

/** Revokes all keys but one; returns how many. */
export async function revokeOtherKeys(tx: Tx, id: number, now: Date): Promise<number> {
  const { count } = await tx`update api_keys set revoked_at = ${now} where id <> ${id} and revoked_at is null`
  return count
}

interface KeyFilter {
  q: string | undefined
  isRevoked: boolean | undefined
}

/** Keys are few, so no index serves lists of them. */
export function listKeys(db: Db, filter: KeyFilter, page: Page<OrderField>): Promise<KeyRow[]> {
  return db<KeyRow[]>`
    select ${columns(db)} from api_keys
    where ${matches(db, filter)}
    ${orderBy(db, page.order, {
      id: 'id',
      name: 'fold_name(name)',
      created_at: 'created_at',
      expires_at: 'expires_at',
      last_used_at: 'last_used_at',
    })}
    limit ${page.take} offset ${page.skip}`
}

export async function countKeys(db: Db, filter: KeyFilter): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from api_keys where ${matches(db, filter)}`
  return row!.count
}

function matches(db: Db, { q, isRevoked }: KeyFilter): Fragment {
  return db`${q === undefined ? db`true` : hasWords(db, db`name`, q)}
    ${isRevoked === undefined ? db`` : db`and (revoked_at is not null) = ${isRevoked}`}`
}

/** Records when a key was used, by its hash. Served by api_keys_hash_key. */
export async function recordUse(db: Db, hash: string, at: Date): Promise<void> {
  await db`
    update api_keys set last_used_at = greatest(last_used_at, ${at}::timestamptz) where hash = decode(${hash}, 'base64')`
}
