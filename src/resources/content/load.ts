import { NotFound } from '../../lib/errors.ts'
import type { Db } from '../../postgres/sql.ts'
import type { ContentKind } from './kind.ts'
import { requireParent, type Parent } from './parent.ts'
import type { ContentRow } from './schema.ts'

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
