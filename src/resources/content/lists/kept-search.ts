import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Page } from '../../../api/page.ts'
import type { Sql } from '../../../postgres/sql.ts'
import type { ContentStore, OrderField } from '../store.ts'
import type { ContentRow } from '../schema.ts'
import type { Scope } from './scope.ts'
import { manyApps } from './search.ts'

/** With this many matching items, going through them takes 0.3 s. A guess. */
export const oftenFrom = 10_000

/** How long a result may be reused: going through 55,000 of ten million items takes 1 s. */
const rememberedMs = 30_000

/** The most ids of one cached search, and searches: 0.8 MB each at most. Guesses. */
const rememberedIds = 100_000
const rememberedSearches = 50

interface Found {
  ids: number[]
  count: number
}

const databases = new WeakMap<Sql, LRUCache<string, Found>>()

/**
 * A page of items that match words and tags, and the total. Costly results, with many items or apps, are gathered once
 * for all pages and cached for half a minute. Each item of a page is checked again, so that no item appears that the
 * caller may not see any more; such items, and newer ones, are missing.
 */
export async function searchKept(
  store: ContentStore,
  scope: Scope,
  page: Page<OrderField>,
  sql: Sql,
): Promise<{ rows: ContentRow[]; count: number }> {
  const { skip, take, countOnly } = page
  const kept = databases.get(sql) ?? new LRUCache({ max: rememberedSearches, ttl: rememberedMs, ttlResolution: 0 })
  databases.set(sql, kept)
  const key = keyOf(store, scope, page)
  const before = kept.get(key)
  const found = before ?? (await gather(store, scope, page, sql))
  const { count, ids } = found
  const isLong = count >= oftenFrom || scope.apps === null || scope.apps.length > manyApps
  if (before === undefined && isLong) kept.set(key, found)
  if (countOnly || skip >= count) return { rows: [], count }
  // Beyond the cached ids.
  if (skip + take > ids.length && ids.length < count) return store.search(sql, scope, page)
  return { rows: await store.findListed(sql, scope, page, ids.slice(skip, skip + take)), count }
}

function gather(store: ContentStore, scope: Scope, page: Page<OrderField>, sql: Sql): Promise<Found> {
  return store.searchIds(sql, scope, { ...page, skip: 0, take: rememberedIds, countOnly: false })
}

/** Hashed, because it names each of the apps. */
function keyOf({ table }: ContentStore, scope: Scope, { q, tags, order, trashed }: Page<OrderField>): string {
  return createHash('sha256')
    .update(JSON.stringify([table, scope, q, tags, order, trashed]))
    .digest('base64')
}
