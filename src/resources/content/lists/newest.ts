import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import type { ContentTable } from '../store.ts'
import { countOften, oftenFrom } from './kept-search.ts'
import { toFilter, type Scope } from './scope.ts'
import { isAsked, searchedApps, settleTerms } from './search.ts'

/** Up to this many apps are walked each by itself; beyond, the items of all apps are, and others passed over. A guess. */
const walkedApps = 2_000

/** Up to this many apps the terms of each are searched by themselves: 30 ms per 1,000. */
const askedApps = 2_000

/** The most items that the rounds of a walk go through. Guesses: 15 ms and 60 ms. */
const walked = [4_000, 40_000]

/** With so few items in some apps, all that have a word are found as fast as by the first round, and by the second. Guesses. */
const fewItems = [50_000, 200_000]

/** The newest items of one app that a round looks at, and the fewest. */
const deepest = 5_000
const shallowest = 20

export interface Sought {
  table: ContentTable
  scope: Scope
  /** How many items there are about, in the apps of the scope. */
  itemCount: number
  /** All words, of which each must be the beginning of one of an item. */
  q: string
  /** A further condition on `t`, a row of content, with `and` in front. */
  where: Fragment
}

interface Wanted {
  /** Only older items. */
  before: number | undefined
  need: number
  /** With a word that very many items have, so many are enough where the newest items have them. */
  enough: number
}

/**
 * The newest items with all words, newest first. A word that many have is found by a walk over the newest items, which
 * ends early; others by the index of terms, whose cost grows with all that it finds. So neither depends on how much
 * there is.
 */
export async function findNewest(sql: Sql, sought: Sought, wanted: Wanted): Promise<number[]> {
  const { before } = wanted
  const scope: Scope = { ...sought.scope, ...(before !== undefined && { before }) }
  const { apps, createdBy } = scope
  if (apps?.length === 0) return []
  const isFew = apps !== null && apps.length <= walkedApps && createdBy === undefined
  return (isFew ? findInFew : findInMany)(sql, { ...sought, scope }, wanted)
}

async function findInFew(sql: Sql, sought: Sought, { need }: Wanted): Promise<number[]> {
  const rounds = fewItems.filter(most => sought.itemCount > most).length
  for (const most of walked.slice(0, rounds)) {
    const { ids, isAll } = await walkFew(sql, sought, need, most)
    if (isAll || ids.length >= need) return ids
  }
  return searchTerms(sql, sought, need)
}

async function findInMany(sql: Sql, sought: Sought, { need, enough }: Wanted): Promise<number[]> {
  const { table, scope, q } = sought
  const { apps } = scope
  const everywhere = { ...sought, scope: { ...scope, isSearchedEverywhere: true } }
  const first = await walkMany(sql, sought, need, walked[0]!)
  if (first.isAll || first.ids.length >= need) return first.ids
  if (apps !== null && apps.length <= askedApps) return searchTerms(sql, sought, need)
  if ((await countOften(sql, { table, q, tags: [] })) < oftenFrom) {
    // What was written last may have no terms yet, and was walked over.
    const found = new Set([...first.ids, ...(await searchTerms(sql, everywhere, need))])
    return [...found].toSorted((a, b) => b - a).slice(0, need)
  }
  const second = await walkMany(sql, sought, need, walked[1]!)
  if (second.isAll || second.ids.length >= enough) return second.ids
  return searchTerms(sql, apps === null || apps.length > searchedApps ? everywhere : sought, need)
}

interface Walked {
  ids: number[]
  /** True where no older item was left out. */
  isAll: boolean
}

/**
 * Looks at the newest items of each app, down to the oldest that is known to have none beside it: the one at `depth` of
 * the app whose is the newest. Served by messages_app.
 */
async function walkFew(db: Db, { table, scope, q, where }: Sought, need: number, most: number): Promise<Walked> {
  const apps = scope.apps!
  const depth = Math.min(deepest, Math.max(shallowest, Math.floor(most / apps.length)))
  const older = scope.before === undefined ? db`` : db`and id < ${scope.before}`
  const ofApp = db`from ${db(table)} where app_id >= a.id and app_id <= a.id ${older}`
  const [row] = await db<{ ids: number[]; edge: number }[]>`
    with asked as materialized (${selectAsked(db, q)}),
    edge as materialized (
      select coalesce(max(e.id), 0) as id from unnest(${apps}::bigint[]) a(id) cross join lateral (
        select id ${ofApp} order by app_id desc, id desc offset ${depth - 1} limit 1
      ) e
    ),
    pool as materialized (
      select i.id from unnest(${apps}::bigint[]) a(id) cross join lateral (
        select id ${ofApp} and id >= (select id from edge) order by app_id desc, id desc limit ${depth}
      ) i
      order by i.id desc
    )
    select (select id from edge) as edge, array(
      select f.id from (select id from pool order by id desc offset 0) p cross join lateral (
        select t.id from ${db(table)} t
        where t.id = p.id and ${toFilter(db, table, { ...scope, apps: null }, everything)} ${where} ${hasTerms(db, table, q)}
        offset 0
      ) f
      order by p.id desc limit ${need}
    ) as ids`
  return { ids: row!.ids, isAll: row!.edge === 0 }
}

/** Looks at the newest items of all apps, or of one author. Served by the primary key, or messages_author. */
async function walkMany(db: Db, { table, scope, q, where }: Sought, need: number, most: number): Promise<Walked> {
  const { before, createdBy } = scope
  const older = db`from ${db(table)} where true
    ${before === undefined ? db`` : db`and id < ${before}`}
    ${createdBy === undefined ? db`` : db`and created_by = ${createdBy}`}`
  const [row] = await db<{ ids: number[]; count: number }[]>`
    with asked as materialized (${selectAsked(db, q)})
    select (select count(*) from (select ${older} limit ${most}) o) as count, array(
      select t.id from (select * ${older} order by id desc limit ${most}) t
      where ${toFilter(db, table, scope, everything)} ${where} ${hasTerms(db, table, q)}
      order by t.id desc limit ${need}
    ) as ids`
  return { ids: row!.ids, isAll: row!.count < most }
}

/** Everything that has the words, and then the newest of it. */
async function searchTerms(db: Db, { table, scope, q, where }: Sought, need: number): Promise<number[]> {
  await settleTerms(db, table, scope)
  const rows = await db<{ id: number }[]>`
    with found as materialized (
      select t.id from ${db(table)} t where ${toFilter(db, table, scope, { ...everything, q })} ${where})
    select id from found order by id desc limit ${need}`
  return rows.map(({ id }) => id)
}

const everything = { skip: 0, take: 0, countOnly: false, order: [], q: undefined, tags: [], trashed: false }

/** What is asked of app 0, as a text: the terms of others differ by their ids alone. */
function selectAsked(db: Db, q: string): Fragment {
  return db`select search_query('{0}', ${q}, '{}')::text as text`
}

/**
 * A condition on `t`, with `and` in front: it has the words of `asked`. The terms of an item are made soon after it, and
 * soon after an edit: what has none, or may have old ones, is looked at itself.
 */
function hasTerms(db: Db, table: ContentTable, q: string): Fragment {
  return db`
    and coalesce(
      case when t.updated_at is null then (select k.terms from ${db(`${table}_terms`)} k where k.id = t.id) end,
      search_terms(t.app_id, coalesce(t.plain, t.text), t.tags)
    ) @@ replace((select text from asked), '''0 ', '''' || t.app_id || ' ')::tsquery
    ${isAsked(db, q)}`
}
