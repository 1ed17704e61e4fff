import type { Principal } from '../../auth/principal.ts'
import type { Access } from '../../engine/state.ts'
import { NotFound, requireFound } from '../../lib/errors.ts'
import type { Db } from '../../postgres/sql.ts'
import { openApp, type OpenedApp } from '../apps/find.ts'
import type { Served } from '../route.ts'
import type { ContentKind } from './kind.ts'
import { requireParent, type Parent } from './parent.ts'
import type { ContentRow } from './schema.ts'

type Caller = Served<'sql' | 'by' | 'apps' | 'userCache'>

interface Found extends OpenedApp {
  row: ContentRow
}

/**
 * The item with an id, trashed or not, in an app that the caller may read, and not hidden with its parent; otherwise
 * 404. `known`: its app, where the request has opened it before.
 */
export async function findReadable(
  { store, parents }: ContentKind,
  id: number,
  caller: Caller,
  known: OpenedApp | null = null,
): Promise<Found> {
  const { sql, by } = caller
  const row = requireFound(await store.findWithHead(sql, id))
  by.place?.found({ id: row.app_id, rev: row.head_rev, head_rev: row.head_rev })
  const { state, level } = known ?? (await openApp(row.app_id, 'read', caller))
  const hidden = by.kind === 'user' ? (state.member(by.user)?.hidden_id ?? 0) : 0
  if (row.id <= hidden) throw NotFound()
  await requireParent(parents, row, sql)
  return { row, state, level }
}

/** As `findReadable`, without trashed items. */
export async function requireShown(
  kind: ContentKind,
  id: number,
  caller: Caller,
  known: OpenedApp | null = null,
): Promise<Found> {
  const found = await findReadable(kind, id, caller, known)
  if (found.row.trashed_at !== null) throw NotFound()
  return found
}

/** Trashed items are visible to their author, to admins and to API keys. */
export function maySeeTrashed(row: ContentRow, level: Access, by: Principal): boolean {
  return level === 'admin' || (by.kind === 'user' && row.created_by === by.user)
}

/** An item under its app's lock. */
export interface LoadedItem {
  item: ContentRow
  /** The parent of a comment, not in the trash; null for an item made directly in the app. */
  parent: Parent | null
}

/** Loads an item for a command; 404 where it is not in the app, or its parent is hidden. */
export async function loadItem(kind: ContentKind, db: Db, app: number, id: number): Promise<LoadedItem> {
  const item = await kind.store.find(db, id)
  if (item === null || item.app_id !== app) throw NotFound()
  return { item, parent: await requireParent(kind.parents, item, db) }
}
