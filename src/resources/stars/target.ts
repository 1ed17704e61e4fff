import { NotFound } from '../../lib/errors.ts'
import type { Batch } from '../../postgres/batch.ts'
import type { Db } from '../../postgres/sql.ts'
import { kinds } from '../content/kinds.ts'
import { loadItem } from '../content/load.ts'
import type { CountChange } from '../content/store.ts'
import { changeCounts, findFile } from '../files/store.ts'
import type { StarRow } from './schema.ts'

/** What a star is for, under its app's lock. */
export interface Target {
  id: number
  app_id: number
  star_count: number
  changeCounts: Batch<CountChange>
}

/** Reads an item or a file; 404 where it is in the trash or hidden with what it belongs to. */
export async function loadTarget(db: Db, app: number, type: StarRow['entity_type'], id: number): Promise<Target> {
  if (type !== 'file') {
    const { item } = await loadItem(kinds[type], db, app, id)
    if (item.trashed_at !== null) throw NotFound()
    return { ...item, changeCounts: kinds[type].store.changeCounts }
  }
  const file = await findFile(db, id)
  if (file === null || file.app_id !== app || file.trashed_at !== null) throw NotFound()
  if (file.parent_type !== null) await loadTarget(db, app, file.parent_type, file.parent_id!)
  return { ...file, changeCounts }
}
