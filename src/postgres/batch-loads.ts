import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Sql } from './sql.ts'

interface Batch<Key, Value> {
  keys: Set<Key>
  /** The query is under way, so no more keys can be added. */
  isOver: boolean
  found: Promise<Map<Key, Value>>
}

/** The most keys of one query. A guess: finding so many rows by key takes a few milliseconds. */
const keyLimit = 1_000

/**
 * Combines loads by key, as a data loader does: keys requested in one turn of the event loop share a query, and so do
 * keys requested while that query runs. The resolved map has no entry for a key that was not found, and may have
 * entries for keys that others requested. A failed query rejects all loads that share it.
 */
export function batchLoads<Key, Value>(
  ask: (sql: Sql, keys: Key[]) => Promise<Map<Key, Value>>,
): (sql: Sql, keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>> {
  const newest = new WeakMap<Sql, Batch<Key, Value>>()

  const open = (sql: Sql, before: Batch<Key, Value> | undefined) => {
    const find = async () => {
      await nextTurn()
      // A failure of the earlier query rejects the loads that share it, not this one.
      await before?.found.catch(() => {})
      batch.isOver = true
      return ask(sql, [...batch.keys])
    }
    const batch: Batch<Key, Value> = { keys: new Set(), isOver: false, found: find() }
    newest.set(sql, batch)
    return batch
  }

  return (sql, keys) => {
    const known = newest.get(sql)
    const isOpen = known !== undefined && !known.isOver && known.keys.size < keyLimit
    const batch = isOpen ? known : open(sql, known)
    for (const key of keys) batch.keys.add(key)
    return batch.found
  }
}
