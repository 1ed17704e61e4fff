import type { Principal } from '../../../auth/principal.ts'
import type { AppState } from '../../../engine/state.ts'
import { requireFound } from '../../../lib/errors.ts'
import { toId } from '../../../api/reference.ts'
import { toPage, type Page } from '../../../api/page.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { isAtLeast, levelOf } from '../../apps/members/access.ts'
import type { ContentKind } from '../kind.ts'
import type { Parent } from '../parent.ts'
import type { Served } from '../../route.ts'
import { centre, countKept, listPlace } from './positions/place-page.ts'
import { toWalk } from './walk.ts'
import { visible, type Listed, type Shown } from './positions/place.ts'
import { keyOf } from './kept-search.ts'
import { hasTerms } from './search.ts'
import type { ContentListing, ContentRow } from '../schema.ts'
import { farFrom, isById, type Scope } from './scope.ts'
import { orderFields, type ContentStore, type OrderField } from '../store.ts'

/** Restrictions beyond the parameters of all lists. */
export type Narrowing = Partial<Pick<Scope, 'after' | 'before' | 'followedBy'>> & {
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
export type Reader = Served<'sql' | 'replica' | 'by' | 'userCache' | 'keptSearches' | 'knownPositions'>

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
  const { followedBy, before, after = hiddenId } = narrow
  const range = { after: after && Math.max(after, hiddenId ?? after), before }
  const walk = toWalk(page, range)
  const shown = toShown(state, page, reader)
  if (walk === null || shown === null || followedBy !== undefined) {
    const scope = { ...toScope(state, reader), ...narrow }
    return fromReplica(reader, sql => listFiltered(store, { scope, page, around: query.around }, { ...reader, sql }))
  }
  const listed: Listed = { table: store.table, place: { app: app.id, parent: null }, shown }
  const count = await countKept(reader.sql, listed, { visible: app.item_count, trashed: app.trashed_count })
  const isInMemory = shown === visible && walk.by === 'id'
  const { recent } = isInMemory ? state : { recent: undefined }
  const asked = { listed, page, walk, range, count, around: query.around, recent }
  const isDeep = page.skip >= deepFrom || query.around !== undefined
  return isDeep ? fromReplica(reader, sql => listPlace(sql, asked)) : listPlace(reader.sql, asked)
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
): Promise<ContentPage> {
  const page = toPage(query, orderFields, defaultOrder, 'along')
  const walk = toWalk(page, {})
  const shown = toShown(state, page, reader)
  if (walk === null || shown === null) {
    const scope = { ...toScope(state, reader), hidden: [], parent: parent.id }
    return listFiltered(store, { scope, page, around: query.around }, reader)
  }
  const place = { app: state.app.id, parent: parent.id }
  const count = await countKept(reader.sql, { table: store.table, place, shown }, { visible: parent.comment_count })
  const listed = { table: store.table, place, shown }
  return listPlace(reader.sql, { listed, page, walk, range: {}, count, around: query.around })
}

interface Filtered {
  scope: Scope
  page: Page<OrderField>
  around: string | undefined
  /** The total where it is known. */
  kept?: number | undefined
}

/** A page of the items that match the filters; counts them unless the total is known. */
export async function listFiltered(
  store: ContentStore,
  { scope, page, around, kept }: Filtered,
  { sql, keptSearches, knownPositions }: Served<'sql' | 'keptSearches' | 'knownPositions'>,
): Promise<ContentPage> {
  if (around === undefined && hasTerms(page)) return { ...(await keptSearches.find(sql, { store, scope, page })), page }
  const count = kept ?? (await store.count(sql, scope, page))
  if (around !== undefined) {
    const position = requireFound(await store.findPosition(sql, scope, page, toId(around)))
    page.skip = centre(position, count, page.take, false)
  }
  if (page.countOnly || page.skip >= count) return { rows: [], count, page }
  const isWhole = around === undefined && scope.after === undefined && scope.before === undefined
  const isFar = isWhole && page.skip > farFrom && isById(page)
  if (!isFar) return { rows: await store.list(sql, scope, page), count, page }
  const positions = knownPositions.of(keyOf({ store, scope, page }))
  const { order, offset, limit, restore, ...range } = positions.toWalk(page, count)
  const walked = await store.list(sql, { ...scope, ...range }, { ...page, order, skip: offset, take: limit })
  const rows = restore(Array.from(walked))
  const ids = rows.map(({ id }) => id)
  if (ids.length === limit) positions.add(page.skip, ids)
  return { rows, count, page }
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
