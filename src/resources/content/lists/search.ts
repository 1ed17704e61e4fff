import type { Page } from '../../../api/page.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'
import { hasWords } from '../../../postgres/word-search.ts'
import type { ContentTable } from '../store.ts'

/** The most apps that are searched by terms: some 30 ms per 1,000. In more, each item is checked, at 15 µs each. */
export const searchedApps = 50_000

/**
 * True where a list asks for words or tags of at most `limit` apps, which the terms of items serve (0012_search.sql).
 */
export function isSearch(apps: number[] | null, page: Page, limit = searchedApps): apps is number[] {
  return apps !== null && apps.length <= limit && hasTerms(page)
}

/** True where a list asks for words or tags. */
export function hasTerms({ q, tags }: Page): boolean {
  return toWords(q).length > 0 || tags.length > 0
}

/** With this many apps, searching each separately takes long: 10 to 30 ms (measured). */
export const manyApps = 200

/** The least number of apps for which it pays to flush an index first. A guess. */
const settledApps = 20

/**
 * Flushes the pending list of an index of terms before it is searched for many apps. Recent writes lie in it unsorted,
 * up to 4 MiB, and are read again for each app: 13 s for 20,000 apps with a third of them, instead of 0.3. Sorting
 * takes 0.1 s, which is better spent by a search than by a writer.
 */
export async function settleTerms(db: Db, table: ContentTable, { apps }: { apps: number[] | null }): Promise<void> {
  if (apps !== null && apps.length > settledApps)
    // Not on a replica, which cannot write.
    await db`select gin_clean_pending_list(${`${table}_terms_search`}::regclass) where not pg_is_in_recovery()`
}

/**
 * A condition on `t`, a row of content: it is in one of the apps, has a word beginning with each word of `q`, and has
 * any of the tags. Served by messages_terms_search and the like alone: with a condition on the app, PostgreSQL may read
 * all its items. Each app is searched separately: with one query for all, each match is compared with the terms of each
 * app, 1 s for 70,000 items of 500 apps instead of 0.1. Items whose terms are not made yet, nearly always none, are
 * checked themselves: the offset keeps PostgreSQL from joining all events to them, see notifications/lists/audits.ts.
 */
export function isFoundIn(db: Db, table: ContentTable, apps: number[], { q, tags }: Page): Fragment {
  return db`t.id = any(array(
      with asked as materialized (
        select a.id as app_id, replace(replace(text, '''0 ', '''' || a.id || ' '), '''0#', '''' || a.id || '#')::tsquery as query
        from unnest(${apps}::bigint[]) a(id), (
          -- What is asked of app 0, once: the offset keeps PostgreSQL from asking it for each. The terms of others
          -- differ by their ids alone; to make them for each took 0.1 ms.
          select search_query('{0}', ${toAsked(q)}, ${tags})::text as text, ${withRoom(db)} offset 0
        ) template
      ),
      fresh as materialized (
        select e.entity_id as id from asked
        join apps p on p.id = asked.app_id
        left join notification_cursors c on c.app_id = p.id
        cross join lateral (
          select entity_id from events where app_id = p.id and rev > coalesce(c.rev, 0)
            and type in (${`${entities[table]}_created`}, ${`${entities[table]}_updated`})
          offset 0
        ) e
        where p.head_rev > coalesce(c.rev, 0)
      )
      select f.id from asked cross join lateral (
        select id from ${db(`${table}_terms`)} where terms @@ asked.query
      ) f
      where f.id not in (select id from fresh)
      union all
      select m.id from ${db(table)} m join asked on asked.app_id = m.app_id
      where m.id in (select id from fresh) and search_terms(m.app_id, coalesce(m.plain, m.text), m.tags) @@ asked.query
    ))
    ${isAsked(db, q)}`
}

/** The newest events of all apps, whose items may have no terms yet: what is written in half a second. A guess. */
const newestEvents = 2_000

const entities: Record<ContentTable, string> = { messages: 'message', posts: 'post', comments: 'comment' }

/**
 * A condition on `t` as `isFoundIn`, for items of any app. Served by messages_terms_everywhere and the like; its cost
 * depends on all matches in all apps.
 */
export function isFound(db: Db, table: ContentTable, page: Page): Fragment {
  if (!hasTerms(page)) return db``
  return db`and t.id = any(array(
      with asked as materialized (${selectAsked(db, page)}),
      fresh as materialized (
        select e.entity_id as id from notifiable o
        left join notification_cursors c on c.app_id = o.app_id
        cross join lateral (
          select entity_id from events where app_id = o.app_id and rev > coalesce(c.rev, 0)
            and type in (${`${entities[table]}_created`}, ${`${entities[table]}_updated`})
          offset 0
        ) e
        union
        -- Plain messages note nothing in notifiable.
        select entity_id from (select entity_id, type from events order by rev desc limit ${newestEvents}) e
        where type in (${`${entities[table]}_created`}, ${`${entities[table]}_updated`})
      )
      select k.id from asked join ${db(`${table}_terms`)} k on words_of(k.terms) @@ asked.words
      where k.id not in (select id from fresh)
      union all
      select m.id from ${db(table)} m, asked
      where m.id in (select id from fresh) and search_terms(0, coalesce(m.plain, m.text), m.tags) @@ asked.query
    ))
    ${isAsked(db, page.q)}`
}

/** The number of items of any app with the words and tags, counted up to `most`. */
export async function countFound(
  db: Db,
  table: ContentTable,
  page: Pick<Page, 'q' | 'tags'>,
  most: number,
): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    with asked as materialized (${selectAsked(db, page)})
    select count(*) as count from (
      select from asked join ${db(`${table}_terms`)} k on words_of(k.terms) @@ asked.words limit ${most}
    ) f`
  return row.count
}

/** `query`, which searches app 0, and the words alone. */
function selectAsked(db: Db, { q, tags }: Pick<Page, 'q' | 'tags'>): Fragment {
  return db`
    select ${withRoom(db)}, query,
      replace(replace(query::text, '''0 ', ''' '), '''0#', '''#')::tsquery as words
    from search_query('{0}', ${toAsked(q)}, ${tags}) query`
}

/**
 * An expression that gives the transaction more memory for its bitmaps, where it is evaluated before the search. With less,
 * PostgreSQL's bitmap becomes lossy, and all rows of its pages are checked: 23 s instead of 0.6 for a word and a frequent
 * prefix in all apps, and 1.4 million rows instead of none for a word that 90,000 of two million messages in an app have.
 */
function withRoom(db: Db): Fragment {
  return db`set_config('work_mem', '64MB', true)`
}

/** The words of `q`, separated by spaces. */
function toWords(q: string | undefined): string[] {
  return q?.split(/\s+/).filter(Boolean) ?? []
}

/** Null: only tags are searched. */
function toAsked(q: string | undefined): string | null {
  return toWords(q).join(' ') || null
}

/** A condition on `t`, and `and` before it: it has the words of `q` that are not terms. */
export function isAsked(db: Db, q: string | undefined): Fragment {
  const words = toWords(q).filter(word => !isTerm(word))
  return words.length === 0 ? db`` : db`and ${hasWords(db, db`coalesce(t.plain, t.text)`, words.join(' '))}`
}

/** True for a word that is one term: without punctuation, and in a script with spaces. */
function isTerm(word: string): boolean {
  return /^[\p{Nd}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]{1,100}$/u.test(word)
}
