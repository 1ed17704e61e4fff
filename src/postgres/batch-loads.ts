import { setImmediate as nextTurn } from 'node:timers/promises'
import { poolOf } from './driver/ending.ts'
import type { Db } from './sql.ts'

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
  ask: (db: Db, keys: Key[]) => Promise<Map<Key, Value>>,
): (db: Db, keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>> {
  const newest = new WeakMap<Db, Batch<Key, Value>>()

  const open = (db: Db, before: Batch<Key, Value> | undefined) => {
    const find = async () => {
      await nextTurn()
      // A failure of the earlier query rejects the loads that share it, not this one.
      await before?.found.catch(() => {})
      batch.isOver = true
      return ask(db, [...batch.keys])
    }
    const batch: Batch<Key, Value> = { keys: new Set(), isOver: false, found: find() }
    newest.set(db, batch)
    return batch
  }

  return (given, keys) => {
    const db = poolOf(given)
    const known = newest.get(db)
    const isOpen = known !== undefined && !known.isOver && known.keys.size < keyLimit
    const batch = isOpen ? known : open(db, known)
    for (const key of keys) batch.keys.add(key)
    return batch.found
  }
}
