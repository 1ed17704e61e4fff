import { NotFound } from '../../lib/errors.ts'
import type { Batch } from '../../postgres/batch.ts'
import type { Db } from '../../postgres/sql.ts'
import type { StarRow } from './schema.ts'
import type { ContentEntity } from '../content/kind.ts'
import { kinds } from '../content/kinds.ts'
import { loadItem } from '../content/load.ts'
import type { CountChange } from '../content/store.ts'

/** The target of a star, under its app's lock. */
export interface Target {
  id: number
  app_id: number
  star_count: number
  changeCounts: Batch<CountChange>
}

/** Loads an item or a file; 404 where it or its parent is in the trash. */
export type LoadTarget = (db: Db, app: number, type: StarRow['entity_type'], id: number) => Promise<Target>

/** Loads an item; 404 where it or its parent is in the trash. */
export async function loadItemTarget(db: Db, app: number, type: ContentEntity, id: number): Promise<Target> {
  const { item } = await loadItem(kinds[type], db, app, id)
  if (item.trashed_at !== null) throw NotFound()
  return { ...item, changeCounts: kinds[type].store.changeCounts }
}
