import { NotFound } from '../../lib/errors.ts'
import type { Db } from '../../postgres/sql.ts'
import type { ContentKind } from './kind.ts'
import { requireParent, type Parent } from './parent.ts'
import type { ContentRow } from './schema.ts'

/** An item under its app's lock. */
export interface LoadedItem {
  item: ContentRow
  /** What it comments on, not in the trash; null for what was made directly in the app. */
  parent: Parent | null
}

/** Reads an item for a command; 404 where it is in another app by now, or what it is about is hidden. */
export async function loadItem(kind: ContentKind, db: Db, app: number, id: number): Promise<LoadedItem> {
  const item = await kind.store.find(db, id)
  if (item === null || item.app_id !== app) throw NotFound()
  return { item, parent: await requireParent(kind.parents, item, db) }
}
