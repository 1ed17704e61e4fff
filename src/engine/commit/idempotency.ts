import type { IdempotencyKey } from '../../api/idempotency-key.ts'
import { problem } from '../../lib/errors.ts'
import { batch } from '../../postgres/batch.ts'
import { toBytesArray } from '../../postgres/arrays.ts'
import { violatedConstraint, type Db, type Sql } from '../../postgres/sql.ts'
import { reviveDates } from './revive.ts'

/** What a command came to that was committed under an idempotency key, and the hash of its request. */
interface StoredResult {
  request: Buffer
  result: unknown
}

/** Results by the hex of their keys. */
export type StoredResults = ReadonlyMap<string, StoredResult>

export interface IdempotencyRow extends IdempotencyKey {
  result: unknown
  created_at: Date
}

export const KeyReused = problem(422, 'idempotency-key-reused', 'This Idempotency-Key was used for another request.', {
  errors: { 'Idempotency-Key': ['was used for another request'] },
})

/** Callers' keys are hashes of 32 bytes; those of commands that one node asked of another are shorter. */
const forwardedBytes = 24

/** Where the time begins in them. Zeros before it, so that they have an end of the index to themselves. */
const timeAt = 2

/**
 * Finds what was committed under some of these keys. Served by the primary key. A query that is sent when it is awaited,
 * so that it comes behind the statements that are awaited with it before it, such as the one that locks.
 */
export function listStoredResults(db: Db, keys: Buffer[]) {
  return db<(StoredResult & { key: Buffer })[]>`
    select key, request, result from idempotency where key = any(${toBytesArray(keys)}::bytea[])`
}

export function toStoredResults(rows: readonly (StoredResult & { key: Buffer })[]): StoredResults {
  return new Map(rows.map(row => [row.key.toString('hex'), row]))
}

/**
 * The result that was committed under a key before; undefined where there is none. Throws KeyReused where the key was
 * used for another request.
 */
export function findEarlier({ key, request }: IdempotencyKey, stored: StoredResults): { result: unknown } | undefined {
  const earlier = stored.get(key.toString('hex'))
  if (earlier === undefined) return undefined
  requireSameRequest(earlier.request, request)
  return { result: reviveDates(earlier.result) }
}

/** Throws KeyReused where two requests with one key differ. */
export function requireSameRequest(earlier: Buffer, request: Buffer): void {
  if (!earlier.equals(request)) throw KeyReused()
}

/** Stores the results of commands, each in the commit of its command. */
export const insertIdempotencyRows = batch<IdempotencyRow>({
  name: 'insert_once',
  columns: { key: 'bytea', request: 'bytea', result: 'jsonb', created_at: 'timestamptz' },
  sql: rows => `
    insert into idempotency (key, request, result, created_at)
    select key, request, coalesce(result, 'null'), created_at from ${rows} r`,
})

/**
 * True where another command has been committed under the same key since the key was looked up: in another app, as
 * otherwise one would have waited for the other. Done again, the command finds what was stored.
 */
export function isIdempotencyRace(error: unknown): boolean {
  return violatedConstraint(error) === 'idempotency_pkey'
}

/**
 * The key of a command that one node sends to another: after its time, so that such keys are added to one end of the
 * index and leave at the other. `origin`: 8 bytes that tell the node from all others.
 */
export function toForwardedKey(nowMs: number, origin: Buffer, ticket: number): Buffer {
  const key = Buffer.alloc(forwardedBytes)
  key.writeUIntBE(nowMs, timeAt, 6)
  origin.copy(key, 8)
  key.writeBigUInt64BE(BigInt(ticket), 16)
  return key
}

/** Removes up to `limit` results that were stored before a time, oldest first. Served by idempotency_age. */
export async function removeStoredResults(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from idempotency where key in (
      select key from idempotency where created_at < ${before}
      order by created_at limit ${limit} for update skip locked)`
  return count
}

/** Removes up to `limit` keys of forwarded commands that were made before a time. Served by the primary key. */
export async function removeForwardedKeys(sql: Sql, before: Date, limit: number): Promise<number> {
  const bound = Buffer.alloc(forwardedBytes)
  bound.writeUIntBE(before.getTime(), timeAt, 6)
  const { count } = await sql`
    delete from idempotency where key in (
      select key from idempotency
      where key < ${bound} and octet_length(key) = ${forwardedBytes}
      order by key limit ${limit} for update skip locked)`
  return count
}
