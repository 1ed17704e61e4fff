import type { People } from '../../actors/people.ts'
import type { Principal } from '../../actors/principal.ts'
import type { AppState } from '../../actors/state.ts'
import { NotFound } from '../../lib/errors.ts'
import { toPage, type Page } from '../../storage/page.ts'
import type { Sql } from '../../storage/sql.ts'
import { listReadable } from '../apps/store.ts'
import { levelOf } from '../members/access.ts'
import { toId } from './find.ts'
import type { ContentKind } from './kind.ts'
import { countBefore, type Shown } from './position.ts'
import type { ContentListing, ContentRow } from './schema.ts'
import { orderFields, type AppPage, type ContentStore, type OrderField, type Scope } from './store.ts'

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
): Promise<ContentPage> {
  const page = toPage(query, orderFields, defaultOrder)
  if (!fits(state.app.type)) return { rows: [], count: 0, page }
  const shown = toShown(state, page, reader)
  const [key] = page.order
  if (shown === null || key?.field !== 'id' || page.q !== undefined || page.tags.length > 0) {
    return listFiltered(store, toScope(state, reader), page, query.around, reader.sql)
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

/** Items of every app that the caller may read, as a member or by the app's default access. */
export async function listEverywhere(
  { store, defaultOrder }: ContentKind,
  query: ContentListing,
  reader: Reader,
): Promise<ContentPage> {
  const { sql, by, people } = reader
  const page = toPage(query, orderFields, defaultOrder)
  if (by.kind === 'key') {
    return listFiltered(store, { apps: null, hidden: [], administered: null, author: by.user }, page, query.around, sql)
  }
  const directories = people.show(by.user).directories.map(({ id }) => id)
  const apps = await listReadable(sql, by.user, directories)
  const scope: Scope = {
    apps: apps.map(({ id }) => id),
    hidden: apps.flatMap(({ id, hidden_id }) => (hidden_id === null ? [] : [{ app: id, id: hidden_id }])),
    administered: apps.flatMap(({ id, is_admin }) => (is_admin ? [id] : [])),
    author: by.user,
  }
  return listFiltered(store, scope, page, query.around, sql)
}

async function listFiltered(
  store: ContentStore,
  scope: Scope,
  page: Page<OrderField>,
  around: string | undefined,
  sql: Sql,
): Promise<ContentPage> {
  const count = await store.count(sql, scope, page)
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
