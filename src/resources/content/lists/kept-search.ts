import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Page } from '../../../api/page.ts'
import { cachedQuery } from '../../../postgres/cached-query.ts'
import type { Sql } from '../../../postgres/sql.ts'
import type { ContentStore, ContentTable, OrderField } from '../store.ts'
import type { ContentRow } from '../schema.ts'
import type { Scope } from './scope.ts'
import { countFound, manyApps } from './search.ts'

/** With this many matching items, going through them takes 0.3 s. A guess. */
export const oftenFrom = 10_000

/** How long a result may be reused: going through 55,000 of ten million items takes 1 s. */
const rememberedMs = 30_000

/** The most ids of one cached search, and searches: 0.8 MB each at most. Guesses. */
const rememberedIds = 100_000
const rememberedSearches = 50

/** How long the frequency of words may be reused: it only decides how they are searched. */
const rememberedOftenMs = 300_000

interface Found {
  ids: number[]
  count: number
}

interface Searched {
  store: ContentStore
  scope: Scope
  page: Page<OrderField>
}

/**
 * Searches for items by words and tags. Costly results, with many items or apps, are gathered once for all pages and
 * cached for half a minute. Each item of a page is checked again, so that no item appears that the caller may not see
 * any more; such items, and newer ones, are missing.
 *
 * Searching many apps separately takes 30 ms per 1,000: rare matches are searched in all apps at once.
 *
 * Searches that run at the same time are not shared: a caller would miss what it has written since the other one began.
 */
export class KeptSearches {
  readonly #kept = new LRUCache<string, Found>({ max: rememberedSearches, ttl: rememberedMs, ttlResolution: 0 })

  /** A page of the items, and the total. */
  async find(sql: Sql, searched: Searched): Promise<{ rows: ContentRow[]; count: number }> {
    const { store, scope, page } = searched
    const { skip, take, countOnly, q, tags } = page
    const isInMany = scope.apps === null || scope.apps.length > manyApps
    if (isInMany && (await countOften(sql, { table: store.table, q, tags })) < oftenFrom)
      return store.search(sql, { ...scope, isSearchedEverywhere: true }, page)
    const key = keyOf(searched)
    const before = this.#kept.get(key)
    const found = before ?? (await gather(sql, searched))
    const { count, ids } = found
    if (before === undefined && (isInMany || count >= oftenFrom)) this.#kept.set(key, found)
    if (countOnly || skip >= count) return { rows: [], count }
    // Beyond the cached ids.
    if (skip + take > ids.length && ids.length < count) return store.search(sql, scope, page)
    return { rows: await store.findListed(sql, scope, page, ids.slice(skip, skip + take)), count }
  }
}

/** The number of matches in all apps, counted up to a limit. */
export const countOften = cachedQuery(
  rememberedOftenMs,
  (sql: Sql, { table, q, tags }: { table: ContentTable } & Pick<Page, 'q' | 'tags'>) =>
    countFound(sql, table, { q, tags }, oftenFrom),
)

function gather(sql: Sql, { store, scope, page }: Searched): Promise<Found> {
  return store.searchIds(sql, scope, { ...page, skip: 0, take: rememberedIds, countOnly: false })
}

/** Identifies a list, whatever its page. Hashed, because it names each of the apps. */
export function keyOf({ store, scope, page }: Searched): string {
  const { q, tags, order, trashed } = page
  return createHash('sha256')
    .update(JSON.stringify([store.table, scope, q, tags, order, trashed]))
    .digest('base64')
}
