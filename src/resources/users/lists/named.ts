import type { Principal } from '../../../auth/principal.ts'
import type { IdPage, Page } from '../../../api/page.ts'
import { cachedQuery } from '../../../postgres/cached-query.ts'
import { inOrder } from '../../../postgres/order.ts'
import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import { toVisible } from './circle.ts'
import { toCrowds, type Crowd, type PersonFilter } from './crowd.ts'
import { selectUserIds, toOthers, type PersonOrder } from './user-ids.ts'
import { isAmong, listStillSeen } from '../visible.ts'

/**
 * A condition on `u`, a row of users: each word of `q` equals or begins a word of what the caller may read of it. Only
 * API keys search e-mail addresses and usernames. Served by users_search and users_readable.
 */
export function hasWordsOf(db: Db, q: string, isPrefix: boolean, { kind }: Principal): Fragment {
  const query = db`name_query(${q}, ${isPrefix}, false)`
  return kind === 'key' ? db`u.search @@ ${query}` : db`${readable(db)} @@ ${query}`
}

function readable(db: Db): Fragment {
  return db`person_terms(u.display_name, u.name, u.uid, u.given_name, u.middle_name, u.family_name, u.nickname)`
}

/** A list that many users match: by common words, or by a large set. */
interface Often extends PersonFilter {
  /** Absent: all users of the sets. */
  q?: string | undefined
}

/** How long a result may be reused: gathering 60,000 of a million users takes 0.3 s. */
const rememberedMs = 30_000

/** The most ids of one cached search, and searches: 2 MB each at most. Guesses. */
const gatheredIds = 250_000
const gatheredSearches = 20

/**
 * A page of users who match common words. They are gathered once, and cached for further pages. Where very many match,
 * they are close to each other, and the first pages are walked to.
 */
export async function listOften(db: Db, often: Often, page: Page<PersonOrder>): Promise<IdPage> {
  const { trashed, tags, order, skip, take, countOnly } = page
  const { kind, user } = often.by
  const asked = { ...often, by: { kind, user, credential: '' }, trashed, tags }
  const found = await gatherOften(db as Sql, { ...asked, order })
  const count = found?.length ?? (await countOften(db as Sql, asked))
  if (countOnly || skip >= count) return { ids: [], count }
  if (found !== null) {
    const ids = await listStillSeen(db, often.by, found.slice(skip, skip + take))
    return { ids: await listStillIn(db, toCrowds(db, often), ids), count }
  }
  const { isFound } = await toOften(db, asked, true)
  return { ids: await selectUserIds(db, isFound, page, count), count }
}

/** The users among `ids`, a cached result, who are in all sets now, in order. */
async function listStillIn(db: Db, crowds: Crowd[], ids: number[]): Promise<number[]> {
  if (crowds.length === 0 || ids.length === 0) return ids
  const isIn = crowds.reduce((all, crowd) => db`${all} and ${crowd.isIn}`, db`u.id = any(${ids}::bigint[])`)
  return inOrder(ids, await db<{ id: number }[]>`select u.id from users u where ${isIn}`).map(({ id }) => id)
}

type OftenOf = Often & Pick<Page, 'trashed' | 'tags'>

/** All users that a search finds, in no order; null where they are too many. */
const gatherOften = cachedQuery(
  rememberedMs,
  async (sql: Sql, { order, ...often }: OftenOf & Pick<Page<PersonOrder>, 'order'>): Promise<number[] | null> => {
    const { isFound } = await toOften(sql, often, false)
    const page = { order, skip: 0, take: gatheredIds + 1 }
    const ids = await selectUserIds(sql, isFound, page, Number.MAX_SAFE_INTEGER)
    return ids.length > gatheredIds ? null : ids
  },
  gatheredSearches,
)

const countOften = cachedQuery(rememberedMs, async (sql: Sql, often: OftenOf): Promise<number> => {
  const { isFound } = await toOften(sql, often, false)
  const [row] = await sql<[{ count: number }]>`select count(*) as count from users u where ${isFound}`
  return row.count
})

/** `isWalked`: hides the words' index from PostgreSQL, so that it reads rows in the order of the page. */
async function toOften(db: Db, often: OftenOf, isWalked: boolean): Promise<{ isFound: Fragment }> {
  const { by, q, autocomplete, agent, system } = often
  const { isSeen } = often.directories.length > 0 ? { isSeen: db`true` } : await toVisible(db, by, false)
  const crowds = toCrowds(db, often)
  const isIn = crowds.reduce((all, { ids }) => db`${all} and ${isAmong(db, ids)}`, db``)
  const hasWords = q === undefined ? db`true` : hasWordsOf(db, q, autocomplete ?? true, by)
  // The stored words are checked first: computing the words of a row takes 10 µs.
  const hasAny = q === undefined ? db`true` : db`u.search @@ name_query(${q}, ${autocomplete ?? true}, false)`
  const isFound = db`${isWalked ? db`(${hasAny} and ${hasWords}) is true` : hasWords}
    and u.id >= ${system === true ? 0 : 1} ${toOthers(db, by, often, agent)} ${isIn} and ${isSeen}`
  return { isFound }
}
