import { toPage, type Page } from '../../../api/page.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { guids } from '../../apps/kinds.ts'
import { gatherReach } from '../../apps/members/readable.ts'
import { hasContent } from '../../apps/store.ts'
import { sumOfTotals } from '../commented.ts'
import type { ContentKind } from '../kind.ts'
import type { ContentListing } from '../schema.ts'
import { orderFields, type Lively, type OrderField } from '../store.ts'
import { countFiltered, listFiltered, type ContentPage, type Narrowing, type Reader } from './list.ts'
import { countLively, listLively } from './lively.ts'
import { isById, type Scope } from './scope.ts'
import { hasTerms, manyApps } from './search.ts'

/** Items of all apps that the caller may read, as a member or by default access. */
export async function listEverywhere(
  kind: ContentKind,
  query: ContentListing,
  reader: Reader,
  { apps: wanted, ...narrow }: Narrowing = {},
): Promise<ContentPage> {
  const { store, defaultOrder } = kind
  const page = toPage(query, orderFields, defaultOrder, 'along')
  const { sql } = reader
  const most = countLively(page)
  const { itemCount, lively, ...reach } = await toReach(kind, reader, { wanted, lively: most === null ? 0 : most + 1 })
  const scope: Scope = { ...narrow, ...reach }
  // With an API key; otherwise readable apps were selected accordingly. Pages by id are walked to.
  if (scope.administered === null && (hasTerms(page) || !isById(page)))
    scope.apps = await narrowToHolding(kind, sql, scope.apps, hasTerms(page) ? manyApps : mergedByTime)
  const count = await countWhole(kind, sql, { scope, page, itemCount })
  const areMany = scope.apps === null || (most !== null && scope.apps.length > most)
  const isRange = narrow.after !== undefined || narrow.before !== undefined
  if (most !== null && areMany && !isRange && query.around === undefined && !page.countOnly) {
    const apps = lively ?? (await store.listLively(sql, typesOf(kind), scope.apps, most + 1))
    const rows = await listLively(sql, store, { scope, page, most, lively: apps })
    if (rows !== null) return { rows, count: count ?? (await countFiltered(sql, store, scope, page)), page }
  }
  return listFiltered(store, { scope, page, around: query.around, kept: count }, reader)
}

/** The most apps whose first items by time are merged. A guess. */
const mergedByTime = 1_000

/** Drops empty apps, if few enough others remain. */
async function narrowToHolding(
  kind: ContentKind,
  sql: Sql,
  apps: number[] | null,
  most: number,
): Promise<number[] | null> {
  if (apps !== null && apps.length <= most) return apps
  const holding = await kind.store.listHolding(sql, typesOf(kind), apps, most + 1)
  return holding.length <= most ? holding : apps
}

/** A scope with further data of its apps, where it has only apps with items. */
type Reached = Scope & { itemCount?: number; lively?: Lively }

/** The apps that the caller may read; with an API key all. */
async function toReach(
  kind: ContentKind,
  { sql, by, userCache }: Reader,
  { wanted, lively }: { wanted: number[] | undefined; lively: number },
): Promise<Reached> {
  if (by.kind === 'key') return { apps: wanted ?? null, hidden: [], administered: null, author: by.user, readOnly: [] }
  const { fits } = kind
  const reach = await gatherReach(sql, {
    user: by.user,
    directories: await userCache.directoriesOf(by.user),
    which: sql`a.type = any(${typesOf(kind)}) and ${hasContent(sql)} ${
      wanted === undefined ? sql`` : sql`and a.id = any(${wanted}::bigint[])`
    }`,
    counted: sql`a.type = any(${Object.keys(guids).filter(fits)})`,
    lively,
  })
  return { ...reach, author: by.user }
}

/** Types of apps with such items, directly or as comments on their items. */
function typesOf({ fits, parents }: ContentKind): string[] {
  const isIn = (type: string) =>
    fits(type) || (type === 'posts' && 'post' in parents) || (type === 'files' && 'file' in parents)
  return Object.keys(guids).filter(isIn)
}

interface Counted {
  scope: Scope
  page: Page<OrderField>
  itemCount: number | undefined
}

/** The number of items without a filter: visible ones are stored, and trashed ones are few. */
async function countWhole(
  kind: ContentKind,
  sql: Sql,
  { scope, page, itemCount }: Counted,
): Promise<number | undefined> {
  const { after, before, followedBy, createdBy, hidden, apps } = scope
  if (hasTerms(page) || hidden.length > 0 || page.trashed === true) return undefined
  if (followedBy !== undefined || createdBy !== undefined) return undefined
  if (after !== undefined || before !== undefined) return undefined
  const visible = await sumOf(kind, sql, apps, itemCount)
  return page.trashed === false ? visible : visible + (await kind.store.count(sql, scope, { ...page, trashed: true }))
}

/** The number of all visible items, from the apps' counters; `direct`: of items made directly in them. */
async function sumOf(
  { store, fits, parents }: ContentKind,
  sql: Sql,
  apps: number[] | null,
  direct?: number,
): Promise<number> {
  const sum = direct ?? (await store.sumOfApps(sql, Object.keys(guids).filter(fits), apps))
  return Object.keys(parents).length === 0 ? sum : sum + (await sumOfTotals(sql, apps))
}
