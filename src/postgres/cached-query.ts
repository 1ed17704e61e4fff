import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { poolOf } from './driver/ending.ts'
import type { Db, Sql } from './sql.ts'

/** The most answers kept for one database, where they are numbers. A guess: some hundred KiB. */
const usualLimit = 10_000

/**
 * Caches the answers of a query for `ttlMs`, for totals that take long to count and may be a little old. Concurrent
 * callers share one query. Failures are not cached. `limit` is the most answers kept.
 */
export function cachedQuery<Key, Value>(
  ttlMs: number,
  ask: (sql: Sql, key: Key) => Promise<Value>,
  limit = usualLimit,
): (sql: Sql, key: Key) => Promise<Value> {
  const databases = new WeakMap<Sql, LRUCache<string, Promise<Value>>>()

  return (given, key) => {
    const sql = poolOf(given)
    const known = databases.get(sql) ?? new LRUCache({ max: limit, ttl: ttlMs, ttlResolution: 0 })
    databases.set(sql, known)
    const name = JSON.stringify(key)
    const before = known.get(name)
    if (before !== undefined) return before
    const answer = ask(sql, key)
    known.set(name, answer)
    answer.catch(() => {
      if (known.peek(name) === answer) known.delete(name)
    })
    return answer
  }
}

/** A count that takes longer is remembered. */
const longMs = 20

/** Lower counts are counted again each time, however long that takes: what a small deployment shows is always exact. */
const countedAlways = 2_000

/** How long a count may be reused. */
const rememberedMs = 30_000

type Remembering = (db: Db, question: unknown, count: () => Promise<number>) => Promise<number>

function toRemembering(): Remembering {
  const databases = new WeakMap<Db, LRUCache<string, number>>()

  return async (db, question, count) => {
    const pool = poolOf(db)
    const known =
      databases.get(pool) ?? new LRUCache<string, number>({ max: usualLimit, ttl: rememberedMs, ttlResolution: 0 })
    databases.set(pool, known)
    // Hashed, because a question may name each of very many apps.
    const key = createHash('sha256').update(JSON.stringify(question)).digest('base64')
    const before = known.get(key)
    if (before !== undefined) return before
    const startedMs = performance.now()
    const answer = await count()
    if (answer > countedAlways && performance.now() - startedMs > longMs) known.set(key, answer)
    return answer
  }
}

/**
 * The answer of `count`, remembered for half a minute where it is high and took long. `question` is all that it depends
 * on, beside the database. Calls at the same time are not shared: each counts what its caller has written before.
 */
export const rememberedCount = toRemembering()
