import type { Db, Fragment } from './sql.ts'

/** Lower case without accents: what `q` and names are compared by. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
}

/** The folded words of some texts, each once. */
export function toWords(texts: Iterable<string | null | undefined>): string[] {
  const words = new Set<string>()
  for (const text of texts) {
    // 512 characters a word: PostgreSQL refuses lexemes above 2 KiB.
    for (const word of fold(text ?? '').match(/[\p{L}\p{N}]+/gu) ?? []) words.add(word.slice(0, 512))
  }
  return [...words]
}

/**
 * The tsquery for `q`: every word must be found, as the beginning of a word (`prefix`) or as a whole word.
 * Null when `q` has no word in it and so restricts nothing.
 */
export function toTsQuery(q: string | undefined, prefix: boolean): string | null {
  const words = toWords([q])
  if (words.length === 0) return null
  return words.map(word => (prefix ? `${word}:*` : word)).join(' & ')
}

/** The words of `q` for `containsWords`, each once; null where there is none. */
export function toSearchWords(q: string | undefined): string[] | null {
  const words = new Set(q?.split(/\s+/).filter(Boolean))
  return words.size === 0 ? null : [...words]
}

/**
 * A condition: every word occurs in `text`, whatever its case and accents, also inside of longer words, because there
 * are scripts without spaces. For texts whose words are not kept beside them; it looks at all of the text.
 */
export function containsWords(db: Db, text: Fragment, words: string[]): Fragment {
  // Each text is folded once, not once for each word: that is what `offset 0` is for.
  return db`not exists (
    select from (select fold(coalesce(${text}, '')) as folded offset 0) f,
      unnest((select array_agg(fold(w)) from unnest(${words}::text[]) w)) w
    where strpos(folded, w) = 0)`
}
