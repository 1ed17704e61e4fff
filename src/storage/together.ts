import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Sql } from './sql.ts'

interface Round<Key, Value> {
  keys: Set<Key>
  /** The query is under way: whoever asks now is too late for it. */
  isOver: boolean
  found: Promise<Map<Key, Value>>
}

/** A query that has so many takes no more. A guess: finding them by their key takes a few milliseconds. */
const keyLimit = 1_000

/**
 * Makes one question of many: what is asked for in the same turn of the event loop shares a query, and so does what is
 * asked for while that runs. Keys that find nothing have no entry in the answer, which may have others besides. A query
 * that fails, fails for all who share it.
 */
export function together<Key, Value>(
  ask: (sql: Sql, keys: Key[]) => Promise<Map<Key, Value>>,
): (sql: Sql, keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>> {
  const newest = new WeakMap<Sql, Round<Key, Value>>()

  const open = (sql: Sql, before: Round<Key, Value> | undefined) => {
    const find = async () => {
      await nextTurn()
      // How it ended is told to those who asked then.
      await before?.found.catch(() => {})
      round.isOver = true
      return ask(sql, [...round.keys])
    }
    const round: Round<Key, Value> = { keys: new Set(), isOver: false, found: find() }
    newest.set(sql, round)
    return round
  }

  return (sql, keys) => {
    const known = newest.get(sql)
    const isOpen = known !== undefined && !known.isOver && known.keys.size < keyLimit
    const round = isOpen ? known : open(sql, known)
    for (const key of keys) round.keys.add(key)
    return round.found
  }
}
