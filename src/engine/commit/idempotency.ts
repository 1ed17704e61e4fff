import type { IdempotencyKey } from '../../api/idempotency-key.ts'
import { problem } from '../../lib/errors.ts'
import { batch } from '../../postgres/batch.ts'
import { toBytesArray } from '../../postgres/arrays.ts'
import { violatedConstraint, type Db, type Sql } from '../../postgres/sql.ts'
import { reviveDates } from './revive.ts'

/** The result of a command that was committed under an idempotency key, and the hash of its request. */
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

/**
 * A query for the results that are stored under some keys. Served by the primary key. It is sent when it is awaited,
 * and so after the statements before it in a `Promise.all`, such as the one that locks.
 */
export function listStoredResults(db: Db, keys: Buffer[]) {
  return db<(StoredResult & { key: Buffer })[]>`
    select key, request, result from idempotency where key = any(${toBytesArray(keys)}::bytea[])`
}

export function toStoredResults(rows: readonly (StoredResult & { key: Buffer })[]): StoredResults {
  return new Map(rows.map(row => [row.key.toString('hex'), row]))
}

/** The result that is stored under a key, if any. Throws KeyReused where the key was used for another request. */
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

/** Stores the result of a command in the commit of the command. */
export const insertIdempotencyRows = batch<IdempotencyRow>({
  name: 'insert_once',
  columns: { key: 'bytea', request: 'bytea', result: 'jsonb', created_at: 'timestamptz' },
  assigns: { result: 'item' },
  sql: rows => `
    insert into idempotency (key, request, result, created_at)
    select key, request, coalesce(result, 'null'), created_at from ${rows} r`,
})

/**
 * True for the error of a command whose idempotency key was stored between its look-up and its commit. The other
 * command was for another app: in one app, one would have waited for the other. A repetition finds the stored result.
 */
export function isIdempotencyRace(error: unknown): boolean {
  return violatedConstraint(error) === 'idempotency_pkey'
}

/** Removes up to `limit` results that were stored before a time, oldest first. Served by idempotency_age. */
export async function removeStoredResults(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from idempotency where key in (
      select key from idempotency where created_at < ${before}
      order by created_at limit ${limit} for update skip locked)`
  return count
}
