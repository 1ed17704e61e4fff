import { LRUCache } from 'lru-cache'
import type { Sql } from './sql.ts'

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

  return (sql, key) => {
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
