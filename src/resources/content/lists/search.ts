import type { Page } from '../../../storage/page.ts'
import type { Db, Fragment } from '../../../storage/sql.ts'
import { containsWords, toSearchWords } from '../../../storage/words.ts'

/** Apps in which items are found by their terms: 60 ms for as many, 500 for 2,000. In more, each item is looked at. */
export const searchedApps = 500

/** True where a list asks for words or tags of a few apps: what the terms of items (0012_search.sql) are kept for. */
export function isSearch(apps: number[] | null, page: Page): apps is number[] {
  return apps !== null && apps.length <= searchedApps && hasTerms(page)
}

/** True where a list asks for words or tags. */
export function hasTerms({ q, tags }: Page): boolean {
  return toSearchWords(q) !== null || tags.length > 0
}

/**
 * A condition on `t`, a row of content: it is in one of the apps and has every word of `q` as the beginning of one of
 * its words, and any of the tags. Served by messages_search and its likes, and by these alone: beside a condition on the
 * app, PostgreSQL may read all that is in it.
 */
export function isFoundIn(db: Db, apps: number[], { q, tags }: Page): Fragment {
  const words = toSearchWords(q)
  return db`search_terms(t.app_id, t.plain, t.tags) @@ search_query(${apps}::bigint[], ${words?.join(' ') ?? null}, ${tags})
    ${contains(db, words?.filter(word => !isTerm(word)) ?? [])}`
}

/** The same for items of any app; it looks at each of them. */
export function isFound(db: Db, { q, tags }: Page): Fragment {
  const words = toSearchWords(q)
  const hasWords = db`search_terms(0, t.plain, '{}') @@ search_query('{0}', ${words?.join(' ') ?? null}, '{}')`
  return db`true
    ${tags.length === 0 ? db`` : db`and t.tags && ${tags}`}
    ${words === null ? db`` : db`${contains(db, words)} and ${hasWords}`}`
}

function contains(db: Db, words: string[]): Fragment {
  return words.length === 0 ? db`` : db`and ${containsWords(db, db`t.plain`, words)}`
}

/** True for a word that is one term: no punctuation in it, and not of a script without spaces. */
function isTerm(word: string): boolean {
  return /^[\p{Nd}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]{1,100}$/u.test(word)
}
