import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Sql } from './sql.ts'

interface Batch<Key, Value> {
  keys: Set<Key>
  /** The query is under way: it takes no more keys. */
  isOver: boolean
  found: Promise<Map<Key, Value>>
}

/** A query that has so many takes no more. A guess: finding them by their key takes a few milliseconds. */
const keyLimit = 1_000

/**
 * Combines loads by key, as a data loader does: keys that are asked for in one turn of the event loop share a query, and so
 * do keys that are asked for while that runs. Keys that find nothing have no entry in the answer, which may have others besides. A query
 * that fails, fails for all who share it.
 */
export function batchLoads<Key, Value>(
  ask: (sql: Sql, keys: Key[]) => Promise<Map<Key, Value>>,
): (sql: Sql, keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>> {
  const newest = new WeakMap<Sql, Batch<Key, Value>>()

  const open = (sql: Sql, before: Batch<Key, Value> | undefined) => {
    const find = async () => {
      await nextTurn()
      // Its failure rejects the loads that share it.
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
