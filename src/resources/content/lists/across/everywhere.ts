import { NotFound } from '../../../../lib/errors.ts'
import { toId } from '../../../../api/reference.ts'
import { toPage, type Page } from '../../../../api/page.ts'
import type { Sql } from '../../../../postgres/sql.ts'
import { guids } from '../../../apps/kinds.ts'
import { gatherReach } from '../../../apps/lists/reach.ts'
import { hasContent } from '../../../apps/store.ts'
import { sumOfTotals } from '../../commented.ts'
import type { ContentKind } from '../../kind.ts'
import type { ContentListing } from '../../schema.ts'
import { orderFields, type ContentStore, type Lively, type OrderField } from '../../store.ts'
import { countBeforeIn, listAcross, placedApps, type Mark } from './across.ts'
import { listFiltered, type ContentPage, type Narrowing, type Reader } from '../list.ts'
import { centre } from '../positions/place-page.ts'
import { walkLimit } from '../positions/position.ts'
import { countLively, listLively } from './lively.ts'
import { isById, type Scope } from '../scope.ts'
import { hasTerms, manyApps } from '../search.ts'

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
  const { after, before } = narrow
  const isRange = after !== undefined || before !== undefined
  const isFar = isRange || page.skip > walkLimit || query.around !== undefined
  // With an API key; otherwise readable apps were selected accordingly. The first pages by id are walked to.
  if (scope.administered === null && (hasTerms(page) || isFar || !isById(page)))
    scope.apps = await narrowToHolding(kind, sql, scope.apps, hasTerms(page) ? manyApps : placedApps)
  const count = await countWhole(kind, sql, { scope, page, itemCount })
  if (count !== undefined && !isRange && isPlaced(kind, scope, page))
    return listPlaced(kind.store, { scope, page, count, around: query.around }, sql)
  const areMany = scope.apps === null || (most !== null && scope.apps.length > most)
  if (most !== null && areMany && !isRange && query.around === undefined && !page.countOnly) {
    const apps = lively ?? (await store.listLively(sql, typesOf(kind), scope.apps, most + 1))
    const rows = await listLively(sql, store, { scope, page, most, lively: apps })
    if (rows !== null) return { rows, count: count ?? (await store.count(sql, scope, page)), page }
  }
  return listFiltered(store, { scope, page, around: query.around, kept: count }, reader)
}

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

/** True where blocks give the position of each item. */
function isPlaced({ parents }: ContentKind, scope: Scope, page: Page<OrderField>): scope is Scope & { apps: number[] } {
  const { apps } = scope
  if (Object.keys(parents).length > 0 || page.trashed !== false || !isById(page)) return false
  return apps !== null && apps.length <= placedApps
}

interface Placed {
  scope: Scope & { apps: number[] }
  page: Page<OrderField>
  count: number
  around: string | undefined
}

async function listPlaced(store: ContentStore, asked: Placed, sql: Sql): Promise<ContentPage> {
  const { scope, page, count, around } = asked
  let mark: Mark | null = null
  if (around !== undefined) {
    const item = await store.find(sql, toId(around))
    if (item === null || item.trashed_at !== null || !scope.apps.includes(item.app_id)) throw NotFound()
    mark = { id: item.id, before: await countBeforeIn(sql, store.table, scope.apps, item.id) }
    page.skip = centre(mark.before, count, page.take, page.order[0]!.descending)
  }
  if (page.countOnly || page.skip >= count) return { rows: [], count, page }
  return { rows: await listAcross(sql, store, { scope, page, count, mark }), count, page }
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
  const { after, before, followedBy, hidden, apps } = scope
  if (hasTerms(page) || hidden.length > 0 || page.trashed === true || followedBy !== undefined) return undefined
  if (after !== undefined || before !== undefined) {
    if (!isPlaced(kind, scope, page)) return undefined
    const { table } = kind.store
    const skipped = after === undefined ? 0 : await countBeforeIn(sql, table, scope.apps, after + 1)
    const end =
      before === undefined ? await sumOf(kind, sql, apps) : await countBeforeIn(sql, table, scope.apps, before)
    return Math.max(0, end - skipped)
  }
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
