/** Lower case without accents: what `q` and names are compared by. */
export function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}+/gu, '').toLowerCase()
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
