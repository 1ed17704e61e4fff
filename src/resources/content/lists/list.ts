import type { People } from '../../../actors/people.ts'
import type { Principal } from '../../../actors/principal.ts'
import type { AppState } from '../../../actors/state.ts'
import { NotFound } from '../../../lib/errors.ts'
import { toPage, type Page } from '../../../storage/page.ts'
import type { Sql } from '../../../storage/sql.ts'
import { guids } from '../../apps/kinds.ts'
import { listReadable } from '../../apps/store.ts'
import { levelOf } from '../../members/access.ts'
import { toId } from '../find.ts'
import type { ContentKind } from '../kind.ts'
import type { Parent, ParentType } from '../parent.ts'
import { countBefore, type Shown } from './position.ts'
import { hasTerms, isSearch, searchedApps } from './search.ts'
import type { ContentListing, ContentRow } from '../schema.ts'
import type { Scope } from './scope.ts'
import { orderFields, type AppPage, type ContentStore, type OrderField } from '../store.ts'

/** What a list is restricted to beyond what all lists can be restricted to. */
export type Narrowing = Partial<Pick<Scope, 'after' | 'before' | 'followedBy'>> & {
  /** Only these apps, as far as the caller may read them. */
  apps?: number[]
}

export interface ContentPage {
  rows: ContentRow[]
  count: number
  page: Page<OrderField>
}

interface Reader {
  sql: Sql
  by: Principal
  people: People
}

/** A page of an app's items: from memory where it is among the newest, by position where nothing filters. */
export async function listInApp(
  { store, fits, defaultOrder }: ContentKind,
  state: AppState,
  query: ContentListing,
  reader: Reader,
  narrowing: Narrowing = {},
): Promise<ContentPage> {
  const page = toPage(query, orderFields, defaultOrder)
  const { apps, ...narrow } = narrowing
  if (!fits(state.app.type) || apps?.includes(state.app.id) === false) return { rows: [], count: 0, page }
  const shown = toShown(state, page, reader)
  const [key] = page.order
  const isNarrow = page.q !== undefined || page.tags.length > 0 || Object.keys(narrow).length > 0
  if (shown === null || key?.field !== 'id' || isNarrow) {
    const scope = { ...toScope(state, reader), ...narrow }
    return listFiltered(store, { scope, page, around: query.around }, reader.sql)
  }
  const { app } = state
  const count = { visible: app.item_count, trashed: app.trashed_count, all: app.item_count + app.trashed_count }[shown]
  if (query.around !== undefined) {
    const position = await positionOf(store, reader.sql, app.id, toId(query.around), shown)
    page.skip = centre(position, count, page.take, key.descending)
  }
  if (page.countOnly || page.skip >= count) return { rows: [], count, page }
  const part = { app: app.id, shown, count, skip: page.skip, take: page.take, descending: key.descending }
  const recent = shown === 'visible' ? pickRecent(state, part) : null
  return { rows: recent ?? (await store.listInApp(reader.sql, part)), count, page }
}

/** The comments of a post or file that the caller may see. */
export async function listOfParent(
  { store, defaultOrder }: ContentKind,
  state: AppState,
  parent: Parent & { type: ParentType },
  query: ContentListing,
  reader: Reader,
): Promise<ContentPage> {
  const page = toPage(query, orderFields, defaultOrder)
  const kept = isUnfiltered(page, {}) ? parent.comment_count : undefined
  // The parent says where they are, but what is looked for is found by the app.
  const apps = hasTerms(page) ? [state.app.id] : null
  const scope = { ...toScope(state, reader), apps, hidden: [], parent: { type: parent.type, id: parent.id } }
  return listFiltered(store, { scope, page, around: query.around, kept }, reader.sql)
}

/** Items of every app that the caller may read, as a member or by the app's default access. */
export async function listEverywhere(
  kind: ContentKind,
  query: ContentListing,
  reader: Reader,
  { apps: wanted, ...narrow }: Narrowing = {},
): Promise<ContentPage> {
  const { store, defaultOrder } = kind
  const page = toPage(query, orderFields, defaultOrder)
  const { sql } = reader
  const scope = { ...narrow, ...(await toReach(kind, reader, wanted)) }
  if (hasTerms(page)) scope.apps = await narrowToHolding(kind, sql, scope.apps)
  const isWhole = isUnfiltered(page, narrow) && scope.hidden.length === 0
  const kept = isWhole ? await sumOf(kind, sql, scope.apps) : undefined
  return listFiltered(store, { scope, page, around: query.around, kept }, sql)
}

/** Without the apps that hold nothing, if the rest are few enough to be searched. */
async function narrowToHolding(kind: ContentKind, sql: Sql, apps: number[] | null): Promise<number[] | null> {
  if (apps !== null && apps.length <= searchedApps) return apps
  const types = Object.keys(guids).filter(type => isIn(kind, type))
  const holding = await kind.store.listHolding(sql, types, apps, searchedApps + 1)
  return holding.length <= searchedApps ? holding : apps
}

/** Where the caller may look: everywhere with an API key. */
async function toReach(kind: ContentKind, { sql, by, people }: Reader, wanted: number[] | undefined): Promise<Scope> {
  if (by.kind === 'key') return { apps: wanted ?? null, hidden: [], administered: null, author: by.user }
  const directories = people.show(by.user).directories.map(({ id }) => id)
  const readable = await listReadable(sql, by.user, directories)
  const apps = readable.filter(({ id, type }) => isIn(kind, type) && (wanted === undefined || wanted.includes(id)))
  return {
    apps: apps.map(({ id }) => id),
    hidden: apps.flatMap(({ id, hidden_id }) => (hidden_id === null ? [] : [{ app: id, id: hidden_id }])),
    administered: apps.flatMap(({ id, is_admin }) => (is_admin ? [id] : [])),
    author: by.user,
  }
}

/** True where there may be such items in apps of a type, directly or as comments on what is there. */
function isIn({ fits, parents }: ContentKind, type: string): boolean {
  return fits(type) || (type === 'posts' && 'post' in parents) || (type === 'files' && 'file' in parents)
}

/** True where every visible item of the apps is listed, whose number they keep. */
function isUnfiltered(page: Page, narrow: Omit<Narrowing, 'apps'>): boolean {
  return page.q === undefined && page.tags.length === 0 && page.trashed === false && Object.keys(narrow).length === 0
}

/** How many items there are in all; undefined where apps do not count them all, because some hang on others. */
function sumOf({ store, fits, parents }: ContentKind, sql: Sql, apps: number[] | null): Promise<number> | undefined {
  if (Object.keys(parents).length > 0) return undefined
  return store.sumOfApps(sql, Object.keys(guids).filter(fits), apps)
}

interface Filtered {
  scope: Scope
  page: Page<OrderField>
  around: string | undefined
  /** How many there are, where that is known. */
  kept?: number | undefined
}

async function listFiltered(
  store: ContentStore,
  { scope, page, around, kept }: Filtered,
  sql: Sql,
): Promise<ContentPage> {
  if (around === undefined && isSearch(scope.apps, page)) return { ...(await store.search(sql, scope, page)), page }
  const count = kept ?? (await store.count(sql, scope, page))
  if (around !== undefined) {
    const position = await store.findPosition(sql, scope, page, toId(around))
    if (position === null) throw NotFound()
    page.skip = centre(position, count, page.take, page.order[0]?.field === 'id' && page.order[0].descending)
  }
  if (page.countOnly || page.skip >= count) return { rows: [], count, page }
  return { rows: await store.list(sql, scope, page), count, page }
}

/** What the fast ways can show; null where the caller sees only some of the items. */
function toShown(state: AppState, { trashed }: Page, { by, people }: Reader): Shown | null {
  if (by.kind === 'user' && state.member(by.user)?.hidden_id) return null
  if (trashed === false) return 'visible'
  if (levelOf(state, by, people) !== 'admin') return null
  return trashed ? 'trashed' : 'all'
}

function toScope(state: AppState, { by, people }: Reader): Scope {
  const hidden = by.kind === 'user' ? state.member(by.user)?.hidden_id : null
  const isAdmin = levelOf(state, by, people) === 'admin'
  return {
    apps: [state.app.id],
    parent: null,
    hidden: hidden ? [{ app: state.app.id, id: hidden }] : [],
    administered: isAdmin ? [state.app.id] : [],
    author: by.user,
  }
}

/** The page from memory, if all of it is there. */
function pickRecent({ recent }: AppState, { count, skip, take, descending }: AppPage): ContentRow[] | null {
  const forgotten = count - recent.items.length
  const end = descending ? count - skip : Math.min(count, skip + take)
  const first = descending ? Math.max(0, end - take) : skip
  if (first < forgotten) return null
  const rows = recent.items.slice(first - forgotten, end - forgotten) as ContentRow[]
  return descending ? rows.reverse() : rows
}

/** How many of the listed items are older. 404 for one that is not listed. */
async function positionOf(store: ContentStore, sql: Sql, app: number, id: number, shown: Shown): Promise<number> {
  const item = await store.find(sql, id)
  if (item === null || item.app_id !== app || item.parent_id !== null) throw NotFound()
  if (shown !== 'all' && (item.trashed_at !== null) !== (shown === 'trashed')) throw NotFound()
  return countBefore(sql, store.table, app, id, shown)
}

/** The skip of the page that has an item as close to its middle as can be. */
function centre(position: number, count: number, take: number, descending: boolean): number {
  const place = descending ? count - 1 - position : position
  return Math.max(0, Math.min(place - Math.floor(take / 2), count - take))
}
