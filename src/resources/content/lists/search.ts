import type { Page } from '../../../storage/page.ts'
import type { Db, Fragment } from '../../../storage/sql.ts'
import { containsWords, toSearchWords } from '../../../storage/words.ts'
import type { ContentTable } from '../store.ts'

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
 * its words, and any of the tags. Served by messages_terms_search and its likes, and by these alone: beside a condition
 * on the app, PostgreSQL may read all that is in it. What was written since terms were made last, nearly always
 * nothing, is looked at itself.
 */
export function isFoundIn(db: Db, table: ContentTable, apps: number[], { q, tags }: Page): Fragment {
  const words = toSearchWords(q)
  const query = db`search_query(${apps}::bigint[], ${words?.join(' ') ?? null}, ${tags})`
  const fresh = db`
    select e.entity_id as id from unnest(${apps}::bigint[]) a(id)
    left join notification_cursors c on c.app_id = a.id
    cross join lateral (
      select entity_id from events where app_id = a.id and rev > coalesce(c.rev, 0)
        and type in (${`${entities[table]}_created`}, ${`${entities[table]}_updated`})
    ) e`
  return db`t.id in (
      select id from ${db(`${table}_terms`)} where terms @@ ${query} and id not in (${fresh})
      union all
      select id from ${db(table)} where id in (${fresh}) and search_terms(app_id, plain, tags) @@ ${query}
    )
    ${contains(db, words?.filter(word => !isTerm(word)) ?? [])}`
}

const entities: Record<ContentTable, string> = { messages: 'message', posts: 'post', comments: 'comment' }

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
