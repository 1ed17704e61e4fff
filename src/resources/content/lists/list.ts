import type { Principal } from '../../../auth/principal.ts'
import type { AppState } from '../../../engine/state.ts'
import { requireFound } from '../../../lib/errors.ts'
import { toId } from '../../../api/reference.ts'
import { toPage, type Page } from '../../../api/page.ts'
import { fromNearerEnd } from '../../../postgres/order.ts'
import { rememberedCount } from '../../../postgres/cached-query.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { isAtLeast, levelOf } from '../../apps/members/access.ts'
import type { ContentKind } from '../kind.ts'
import type { Parent } from '../parent.ts'
import type { Served } from '../../route.ts'
import { centre, countKept, listPlace } from './positions/place-page.ts'
import { toWalk } from './walk.ts'
import { visible, type Listed, type Shown } from './positions/place.ts'
import { hasTerms } from './search.ts'
import type { ContentListing, ContentRow } from '../schema.ts'
import type { Scope } from './scope.ts'
import { orderFields, type ContentStore, type OrderField } from '../store.ts'

/** Restrictions beyond the parameters of all lists. */
export type Narrowing = Partial<Pick<Scope, 'after' | 'before' | 'followedBy' | 'createdBy'>> & {
  /** Only these apps, as far as the caller may read them. */
  apps?: number[]
}

export interface ContentPage {
  rows: ContentRow[]
  count: number
  page: Page<OrderField>
}

/** Pages beyond this position are read from a replica: the newest hundred are in memory. A guess. */
const deepFrom = 100

/** The caller and the data sources. */
export type Reader = Served<'sql' | 'replica' | 'by' | 'userCache' | 'keptSearches'>

/** A page of an app's items: from memory where they are among the newest, by position where nothing filters. */
export async function listInApp(
  { store, fits, defaultOrder }: ContentKind,
  state: AppState,
  query: ContentListing,
  reader: Reader,
  narrowing: Narrowing = {},
): Promise<ContentPage> {
  const page = toPage(query, orderFields, defaultOrder, 'along')
  const { apps, ...narrow } = narrowing
  const { app } = state
  if (!fits(app.type) || apps?.includes(app.id) === false) return { rows: [], count: 0, page }
  const hiddenId = hiddenFrom(state, reader.by)
  const { followedBy, createdBy, before, after = hiddenId } = narrow
  const range = { after: after && Math.max(after, hiddenId ?? after), before }
  const walk = toWalk(page, range)
  const shown = toShown(state, page, reader)
  const { around } = query
  const scope = { ...toScope(state, reader), ...narrow }
  if (shown === null || followedBy !== undefined || createdBy !== undefined || hasTerms(page))
    return fromReplica(reader, sql => listFiltered(store, { scope, page, around }, { ...reader, sql }))
  const listed: Listed = { table: store.table, place: { app: app.id, parent: null }, shown }
  const count = await countKept(reader.sql, listed, { visible: app.item_count, trashed: app.trashed_count })
  const { recent } = shown === visible ? state : { recent: undefined }
  const isWhole = range.after === undefined && before === undefined
  const list = (sql: Sql) =>
    walk?.by === 'id'
      ? listPlace(sql, { listed, page, descending: walk.descending, range, count, around, recent })
      : listFiltered(store, { scope, page, around, kept: isWhole ? count : undefined }, { ...reader, sql })
  return page.skip >= deepFrom || around !== undefined ? fromReplica(reader, list) : list(reader.sql)
}

/** True for a list in an order that no index has: all its items are sorted. */
export function isSorted(query: ContentListing, defaultOrder: string): boolean {
  return toWalk(toPage(query, orderFields, defaultOrder, 'along'), {}) === null
}

/** Runs a long read on the replica, if there is one. */
export function fromReplica<Result>({ sql, replica }: Reader, run: (sql: Sql) => Promise<Result>): Promise<Result> {
  return replica === null ? run(sql) : replica.read(run)
}

/** The comments on a post or file that the caller may see. */
export async function listOfParent(
  { store, defaultOrder }: ContentKind,
  state: AppState,
  parent: Parent,
  query: ContentListing,
  reader: Reader,
  { createdBy }: Pick<Narrowing, 'createdBy'> = {},
): Promise<ContentPage> {
  const page = toPage(query, orderFields, defaultOrder, 'along')
  const walk = toWalk(page, {})
  const shown = toShown(state, page, reader)
  const { around } = query
  const by = createdBy === undefined ? {} : { createdBy }
  const scope = { ...toScope(state, reader), hidden: [], parent: parent.id, ...by }
  if (shown === null || createdBy !== undefined || hasTerms(page))
    return listFiltered(store, { scope, page, around }, reader)
  const listed = { table: store.table, place: { app: state.app.id, parent: parent.id }, shown }
  const count = await countKept(reader.sql, listed, { visible: parent.comment_count })
  if (walk?.by !== 'id') return listFiltered(store, { scope, page, around, kept: count }, reader)
  return listPlace(reader.sql, { listed, page, descending: walk.descending, range: {}, count, around })
}

interface Filtered {
  scope: Scope
  page: Page<OrderField>
  around: string | undefined
  /** The total where it is known. */
  kept?: number | undefined
}

/** A page of the items that match the filters, walked to from the nearer end; counts them unless the total is known. */
export async function listFiltered(
  store: ContentStore,
  { scope, page, around, kept }: Filtered,
  { sql, keptSearches }: Served<'sql' | 'keptSearches'>,
): Promise<ContentPage> {
  if (around === undefined && hasTerms(page)) return { ...(await keptSearches.find(sql, { store, scope, page })), page }
  const count = kept ?? (await countFiltered(sql, store, scope, page))
  if (around !== undefined) {
    const position = requireFound(await store.findPosition(sql, scope, page, toId(around)))
    page.skip = centre(position, count, page.take, false)
  }
  if (page.countOnly || page.skip >= count) return { rows: [], count, page }
  const { order, offset, limit, restore } = fromNearerEnd(page, count)
  const rows = await store.list(sql, scope, { ...page, order, skip: offset, take: limit })
  return { rows: restore(Array.from(rows)), count, page }
}

/** The total of a filtered list, which may be half a minute old where it is large. */
export function countFiltered(sql: Sql, store: ContentStore, scope: Scope, page: Page<OrderField>): Promise<number> {
  const { q, tags, trashed } = page
  return rememberedCount(sql, [store.table, scope, q, tags, trashed], () => store.count(sql, scope, page))
}

/** The items of one place that a list shows; null for the caller's own trash alone, which is small. */
function toShown(state: AppState, { trashed }: Page, { by, userCache }: Reader): Shown | null {
  if (trashed === false) return visible
  const level = levelOf(state, by, userCache)
  if (level === 'admin') return { kept: trashed ? 'trashed' : 'all' }
  if (trashed) return null
  return isAtLeast(level, 'write') ? { kept: 'visible', ownTrash: by.user } : visible
}

/** The id up to which the app is hidden from a member who removed it. */
function hiddenFrom(state: AppState, by: Principal): number | undefined {
  return by.kind === 'user' ? (state.member(by.user)?.hidden_id ?? undefined) : undefined
}

function toScope(state: AppState, { by, userCache }: Reader): Scope {
  const hidden = hiddenFrom(state, by)
  const level = levelOf(state, by, userCache)
  return {
    apps: [state.app.id],
    parent: null,
    hidden: hidden ? [{ app: state.app.id, id: hidden }] : [],
    administered: level === 'admin' ? [state.app.id] : [],
    author: by.user,
    readOnly: isAtLeast(level, 'write') ? [] : [state.app.id],
  }
}
