import type { Db, Fragment } from './sql.ts'

/**
 * A condition: each word of `q` begins a word of `text`, whatever the case and accents of both. A word of `q` that
 * contains symbols is found as a whole, and in scripts without spaces anywhere. It scans the whole text, which takes
 * some microseconds: use it for few texts, or on what an index has found.
 */
export function hasWords(db: Db, text: Fragment, q: string): Fragment {
  return db`fold(coalesce(${text}, '')) ~ all((select word_patterns(${q}))::text[])`
}

/** False where `q` has nothing but symbols and spaces. */
export function hasLetters(q: string): boolean {
  return /[\p{L}\p{N}]/u.test(q)
}

/**
 * A condition, with `and` in front: `text` has the words of each phrase one after the other, whatever the case and accents,
 * and whatever stands between them. As `hasWords`, for few texts.
 */
export function hasPhrases(db: Db, text: Fragment, phrases: readonly string[]): Fragment {
  if (phrases.length === 0) return db``
  const words = (of: Fragment) =>
    db`regexp_replace(E'\n' || split_text(fold(coalesce(${of}, '')), E'\n') || E'\n', E'\n+', E'\n', 'g')`
  return db`and not exists (
    select from unnest(${phrases as string[]}::text[]) phrase where strpos(${words(text)}, ${words(db`phrase`)}) = 0)`
}
