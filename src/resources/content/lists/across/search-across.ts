import type { Page } from '../../../../api/page.ts'
import { cachedQuery } from '../../../../postgres/cached-query.ts'
import type { Sql } from '../../../../postgres/sql.ts'
import { oftenFrom } from '../kept-search.ts'
import type { ContentRow } from '../../schema.ts'
import type { Scope } from '../scope.ts'
import { countFound, manyApps } from '../search.ts'
import type { ContentStore, ContentTable, OrderField } from '../../store.ts'
import type { Served } from '../../../route.ts'

/** How long the frequency of words may be reused: it only decides how they are searched. */
const rememberedMs = 300_000

/**
 * The items of several apps that match words and tags. Searching many apps separately takes 30 ms per 1,000: rare
 * matches are searched in all apps at once, frequent ones in each app, once for all pages.
 */
export async function searchAcross(
  store: ContentStore,
  scope: Scope,
  page: Page<OrderField>,
  { sql, keptSearches }: Served<'sql' | 'keptSearches'>,
): Promise<{ rows: ContentRow[]; count: number }> {
  const isInMany = scope.apps === null || scope.apps.length > manyApps
  if (!isInMany) return keptSearches.find(sql, { store, scope, page })
  const { q, tags } = page
  const isOften = (await countOften(sql, { table: store.table, q, tags })) === oftenFrom
  if (!isOften) return store.search(sql, { ...scope, isSearchedEverywhere: true }, page)
  return keptSearches.find(sql, { store, scope, page })
}

/** The number of matches in all apps, counted up to a limit. */
const countOften = cachedQuery(
  rememberedMs,
  (sql: Sql, { table, q, tags }: { table: ContentTable } & Pick<Page, 'q' | 'tags'>) =>
    countFound(sql, table, { q, tags }, oftenFrom),
)
