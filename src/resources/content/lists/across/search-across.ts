import type { Page } from '../../../../api/page.ts'
import { cachedQuery } from '../../../../postgres/cached-query.ts'
import type { Sql } from '../../../../postgres/sql.ts'
import { oftenFrom, searchKept } from '../kept-search.ts'
import type { ContentRow } from '../../schema.ts'
import type { Scope } from '../scope.ts'
import { countFound, manyApps } from '../search.ts'
import type { ContentStore, ContentTable, OrderField } from '../../store.ts'

/** How long it may be answered again whether words are found often: it decides no more than how they are looked for. */
const rememberedMs = 300_000

/**
 * What is found by its words and tags in several apps. Each of many would be asked for by itself, 30 ms for 1,000 of them:
 * what is rare in all apps is looked for without them, and all else in each of them, once for all pages.
 */
export async function searchAcross(
  store: ContentStore,
  scope: Scope,
  page: Page<OrderField>,
  sql: Sql,
): Promise<{ rows: ContentRow[]; count: number }> {
  const isInMany = scope.apps === null || scope.apps.length > manyApps
  if (!isInMany) return searchKept(store, scope, page, sql)
  const { q, tags } = page
  const isOften = (await countOften(sql, { table: store.table, q, tags })) === oftenFrom
  if (!isOften) return store.search(sql, { ...scope, isSearchedEverywhere: true }, page)
  return searchKept(store, scope, page, sql)
}

/** In all apps, as far as it is less than that. */
const countOften = cachedQuery(
  rememberedMs,
  (sql: Sql, { table, q, tags }: { table: ContentTable } & Pick<Page, 'q' | 'tags'>) =>
    countFound(sql, table, { q, tags }, oftenFrom),
)
