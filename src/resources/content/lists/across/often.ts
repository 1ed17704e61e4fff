import type { Page } from '../../../../api/page.ts'
import type { Sql } from '../../../../postgres/sql.ts'
import type { ContentStore, ContentTable, OrderField } from '../../store.ts'
import type { ContentPage } from '../list.ts'
import type { Scope } from '../scope.ts'
import { countFound, hasTerms } from '../search.ts'

/** Items that take 0.3 s to be gone through. A guess. */
const oftenFrom = 10_000

/** True where a list asks for what so much in all apps has that it is gone through once, for all pages. */
export async function findsOften(sql: Sql, table: ContentTable, page: Page): Promise<boolean> {
  return hasTerms(page) && (await countFound(sql, table, page, oftenFrom)) === oftenFrom
}

/** A page of what is often found, in all apps. What was trashed or deleted in the last half minute is missing on it. */
export async function searchOften(
  store: ContentStore,
  scope: Scope,
  page: Page<OrderField>,
  sql: Sql,
): Promise<ContentPage> {
  const { skip, take, countOnly, trashed } = page
  const { q, tags, order } = page
  const search = { scope, page: { q, tags, order, trashed, skip: 0, take: 0, countOnly: false } }
  const { count, ids } = await store.gatherIds(sql, search)
  if (countOnly || skip >= count) return { rows: [], count, page }
  // Beyond the ids that are remembered.
  if (skip + take > ids.length && ids.length < count) return { ...(await store.search(sql, scope, page)), page }
  const rows = await store.findInOrder(sql, ids.slice(skip, skip + take))
  return { rows: trashed === false ? rows.filter(row => row.trashed_at === null) : rows, count, page }
}
