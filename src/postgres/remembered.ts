import type { Sql } from './sql.ts'

/** Answers that are remembered for one database at most, where they are numbers. A guess: some hundred KiB. */
const usualLimit = 10_000

interface Remembered<Value> {
  answer: Promise<Value>
  untilMs: number
}

/**
 * Makes a question that is answered for `ttlMs` with what it was answered before: for totals that take long to count and
 * may be a little old. Callers who ask the same at once share one query. A question that fails is asked again. `limit`:
 * how many answers are kept.
 */
export function remembered<Key, Value>(
  ttlMs: number,
  ask: (sql: Sql, key: Key) => Promise<Value>,
  limit = usualLimit,
): (sql: Sql, key: Key) => Promise<Value> {
  const databases = new WeakMap<Sql, Map<string, Remembered<Value>>>()

  return (sql, key) => {
    const known = databases.get(sql) ?? new Map<string, Remembered<Value>>()
    databases.set(sql, known)
    const name = JSON.stringify(key)
    const before = known.get(name)
    if (before !== undefined && before.untilMs > performance.now()) return before.answer
    const answer = ask(sql, key)
    known.delete(name)
    known.set(name, { answer, untilMs: performance.now() + ttlMs })
    for (const oldest of known.keys()) {
      if (known.size <= limit) break
      known.delete(oldest)
    }
    answer.catch(() => {
      if (known.get(name)?.answer === answer) known.delete(name)
    })
    return answer
  }
}
