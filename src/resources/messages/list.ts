import type { People } from '../../actors/people.ts'
import type { Principal } from '../../actors/principal.ts'
import type { AppState } from '../../actors/state.ts'
import { NotFound } from '../../lib/errors.ts'
import { toPage, type Page } from '../../storage/page.ts'
import type { Sql } from '../../storage/sql.ts'
import { listReadable } from '../apps/store.ts'
import { countBefore, type Shown } from '../content/position.ts'
import type { ContentRow } from '../content/schema.ts'
import { levelOf } from '../members/access.ts'
import type { MessageListing } from './schema.ts'
import * as store from './store.ts'

export interface MessagePage {
  rows: ContentRow[]
  count: number
  page: Page<store.OrderField>
}

interface Reader {
  sql: Sql
  by: Principal
  people: People
}

/** A page of an app's messages: from memory where it is among the newest, by position where nothing filters. */
export async function listInApp(state: AppState, query: MessageListing, reader: Reader): Promise<MessagePage> {
  const page = toPage(query, store.orderFields, 'id')
  const shown = toShown(state, page, reader)
  const [key] = page.order
  if (shown === null || key?.field !== 'id' || page.q !== undefined || page.tags.length > 0) {
    return listFiltered(toScope(state, reader), page, query.around, reader.sql)
  }
  const { app } = state
  const count = { visible: app.item_count, trashed: app.trashed_count, all: app.item_count + app.trashed_count }[shown]
  if (query.around !== undefined) {
    const position = await positionOf(reader.sql, app.id, toId(query.around), shown)
    page.skip = centre(position, count, page.take, key.descending)
  }
  if (page.countOnly || page.skip >= count) return { rows: [], count, page }
  const part = { app: app.id, shown, count, skip: page.skip, take: page.take, descending: key.descending }
  const recent = shown === 'visible' ? pickRecent(state, part) : null
  return { rows: recent ?? (await store.listAppMessages(reader.sql, part)), count, page }
}

/** Messages of every app that the caller may read, as a member or by the app's default access. */
export async function listEverywhere(query: MessageListing, reader: Reader): Promise<MessagePage> {
  const { sql, by, people } = reader
  const page = toPage(query, store.orderFields, 'id')
  if (by.kind === 'key') {
    return listFiltered({ apps: null, hidden: [], administered: null, author: by.user }, page, query.around, sql)
  }
  const directories = people.show(by.user).directories.map(({ id }) => id)
  const apps = await listReadable(sql, by.user, directories)
  const scope: store.Scope = {
    apps: apps.map(({ id }) => id),
    hidden: apps.flatMap(({ id, hidden_id }) => (hidden_id === null ? [] : [{ app: id, id: hidden_id }])),
    administered: apps.flatMap(({ id, is_admin }) => (is_admin ? [id] : [])),
    author: by.user,
  }
  return listFiltered(scope, page, query.around, sql)
}

async function listFiltered(
  scope: store.Scope,
  page: Page<store.OrderField>,
  around: string | undefined,
  sql: Sql,
): Promise<MessagePage> {
  const count = await store.countMessages(sql, scope, page)
  if (around !== undefined) {
    const position = await store.findPosition(sql, scope, page, toId(around))
    if (position === null) throw NotFound()
    page.skip = centre(position, count, page.take, page.order[0]?.field === 'id' && page.order[0].descending)
  }
  if (page.countOnly || page.skip >= count) return { rows: [], count, page }
  return { rows: await store.listMessages(sql, scope, page), count, page }
}

/** What the fast ways can show; null where the caller sees only some of the messages. */
function toShown(state: AppState, { trashed }: Page, { by, people }: Reader): Shown | null {
  if (by.kind === 'user' && state.member(by.user)?.hidden_id) return null
  if (trashed === false) return 'visible'
  if (levelOf(state, by, people) !== 'admin') return null
  return trashed ? 'trashed' : 'all'
}

function toScope(state: AppState, { by, people }: Reader): store.Scope {
  const hidden = by.kind === 'user' ? state.member(by.user)?.hidden_id : null
  const isAdmin = levelOf(state, by, people) === 'admin'
  return {
    apps: [state.app.id],
    hidden: hidden ? [{ app: state.app.id, id: hidden }] : [],
    administered: isAdmin ? [state.app.id] : [],
    author: by.user,
  }
}

/** The page from memory, if all of it is there. */
function pickRecent({ recent }: AppState, { count, skip, take, descending }: store.AppPage): ContentRow[] | null {
  const forgotten = count - recent.items.length
  const end = descending ? count - skip : Math.min(count, skip + take)
  const first = descending ? Math.max(0, end - take) : skip
  if (first < forgotten) return null
  const rows = recent.items.slice(first - forgotten, end - forgotten) as ContentRow[]
  return descending ? rows.reverse() : rows
}

/** How many of the listed messages are older. 404 for a message that is not listed. */
async function positionOf(sql: Sql, app: number, id: number, shown: Shown): Promise<number> {
  const message = await store.findMessage(sql, id)
  if (message === null || message.app_id !== app) throw NotFound()
  if (shown !== 'all' && (message.trashed_at !== null) !== (shown === 'trashed')) throw NotFound()
  return countBefore(sql, 'messages', app, id, shown)
}

/** The skip of the page that has an item as close to its middle as can be. */
function centre(position: number, count: number, take: number, descending: boolean): number {
  const place = descending ? count - 1 - position : position
  return Math.max(0, Math.min(place - Math.floor(take / 2), count - take))
}

function toId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw NotFound()
  return Number(text)
}
