import type { Db, Fragment } from './sql.ts'

/**
 * A condition: each word of `q` is the beginning of a word of `text`, whatever their case and accents. A word of `q` with
 * symbols in it is found as a whole, and also inside of what is written in a script without spaces. It looks at all of
 * the text, which takes some microseconds: for few texts, or those that an index found.
 */
export function hasWords(db: Db, text: Fragment, q: string): Fragment {
  return db`fold(coalesce(${text}, '')) ~ all((select word_patterns(${q}))::text[])`
}

/** False where there is nothing but symbols and spaces. */
export function hasLetters(q: string): boolean {
  return /[\p{L}\p{N}]/u.test(q)
}
