import type { Principal } from '../../../auth/principal.ts'
import type { Page } from '../../../api/page.ts'
import { cachedQuery } from '../../../postgres/cached-query.ts'
import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import { toCrowds, type Belonging, type Crowd } from './crowd.ts'
import { toVisible } from './extent.ts'
import { selectUserIds, toOthers, type PersonOrder } from './user-ids.ts'
import { isAmong, listStillSeen } from '../visible.ts'

/**
 * A condition on `u`, a row of users: each word of `q` is one, or the beginning of one, of what the caller may read of it.
 * Mail addresses and the names that people sign in with are searched by API keys alone. Served by users_search and
 * users_readable.
 */
export function hasWordsOf(db: Db, q: string, isPrefix: boolean, { kind }: Principal): Fragment {
  const query = db`name_query(${q}, ${isPrefix}, false)`
  return kind === 'key' ? db`u.search @@ ${query}` : db`${readable(db)} @@ ${query}`
}

function readable(db: Db): Fragment {
  return db`person_terms(u.display_name, u.name, u.uid, u.given_name, u.middle_name, u.family_name, u.nickname)`
}

/** A person's list of many: of those who have some words, or of a crowd. */
interface Often extends Belonging {
  by: Principal
  agent?: boolean | undefined
  system?: boolean | undefined
  autocomplete?: boolean | undefined
  /** Absent for all who belong to a crowd. */
  q?: string | undefined
}

/** How long it may be answered again who is found: to gather 60,000 of a million takes 0.3 s. */
const rememberedMs = 30_000

/** Ids of one search that are remembered, and searches: 2 MB each at most. Guesses. */
const gatheredIds = 250_000
const gatheredSearches = 20

/**
 * A page of the ids of those whom words find that many have, and how many they are. They are gathered once, for all pages
 * that are read of them. Where they are very many, they lie close to each other, and the first pages are walked to.
 */
export async function listOften(
  db: Db,
  often: Often,
  page: Page<PersonOrder>,
): Promise<{ ids: number[]; count: number }> {
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

/** Those of `ids` who belong to all crowds now, in their order: of what was found a moment ago. */
async function listStillIn(db: Db, crowds: Crowd[], ids: number[]): Promise<number[]> {
  if (crowds.length === 0 || ids.length === 0) return ids
  const isIn = crowds.reduce((all, crowd) => db`${all} and ${crowd.isIn}`, db`u.id = any(${ids}::bigint[])`)
  const rows = await db<{ id: number }[]>`select u.id from users u where ${isIn}`
  const still = new Set(rows.map(({ id }) => id))
  return ids.filter(id => still.has(id))
}

type OftenOf = Often & Pick<Page, 'trashed' | 'tags'>

/** All of those whom a search finds, in some order; null where they are too many. */
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

/** `isWalked`: PostgreSQL does not see that an index finds the words, and looks at rows in the order of the page. */
async function toOften(db: Db, often: OftenOf, isWalked: boolean): Promise<{ isFound: Fragment }> {
  const { by, q, autocomplete, agent, system } = often
  const { isSeen } = often.directories.length > 0 ? { isSeen: db`true` } : await toVisible(db, by, false)
  const crowds = toCrowds(db, often)
  const isIn = crowds.reduce((all, { ids }) => db`${all} and ${isAmong(db, ids)}`, db``)
  const hasWords = q === undefined ? db`true` : hasWordsOf(db, q, autocomplete ?? true, by)
  // What is stored is asked first: the words of a row take 10 µs to be worked out.
  const hasAny = q === undefined ? db`true` : db`u.search @@ name_query(${q}, ${autocomplete ?? true}, false)`
  const isFound = db`${isWalked ? db`(${hasAny} and ${hasWords}) is true` : hasWords}
    and u.id >= ${system === true ? 0 : 1} ${toOthers(db, by, often, agent)} ${isIn} and ${isSeen}`
  return { isFound }
}
