import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Sql } from './sql.ts'

interface Round<Key, Value> {
  keys: Set<Key>
  /** The query is under way: whoever asks now is too late for it. */
  isOver: boolean
  found: Promise<Map<Key, Value>>
}

/** In one query at most. A guess: finding so many by their key takes a few milliseconds. */
const keyLimit = 1_000

/**
 * Turns a question about many keys into one about a single key, of which those that are asked in the same turn of the
 * event loop share a query, and those that are asked while it runs share the next. What has no entry in its answer is
 * undefined. A query that fails, fails for all who share it.
 */
export function together<Key, Value>(
  ask: (sql: Sql, keys: Key[]) => Promise<Map<Key, Value>>,
): (sql: Sql, key: Key) => Promise<Value | undefined> {
  const newest = new WeakMap<Sql, Round<Key, Value>>()

  const open = (sql: Sql, before: Round<Key, Value> | undefined) => {
    const round: Round<Key, Value> = { keys: new Set(), isOver: false, found: Promise.resolve(new Map()) }
    round.found = nextTurn()
      // How it ended is told to those who asked then.
      .then(() => before?.found.catch(() => {}))
      .then(() => {
        round.isOver = true
        return ask(sql, [...round.keys])
      })
    newest.set(sql, round)
    return round
  }

  return async (sql, key) => {
    const known = newest.get(sql)
    const isOpen = known !== undefined && !known.isOver && known.keys.size < keyLimit
    const round = isOpen ? known : open(sql, known)
    round.keys.add(key)
    return (await round.found).get(key)
  }
}
