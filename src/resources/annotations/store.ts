import { batch } from '../../postgres/batch.ts'
import type { Db } from '../../postgres/sql.ts'
import type { FileRow } from '../files/schema.ts'
import { findFiles } from '../files/store.ts'

/** Stores the files that an answer cites. */
export const insertAnnotations = batch({
  name: 'insert_item_annotations',
  columns: { item_type: 'text', item_id: 'bigint', place: 'int', file_id: 'bigint' },
  sql: (rows, columns) => `insert into item_annotations (${columns}) select ${columns} from ${rows} r`,
})

/** Removes the citations of deleted answers. Served by the primary key. */
export const removeAnnotationsOf = batch({
  name: 'remove_item_annotations_of',
  columns: { item_type: 'text', item_id: 'bigint' },
  key: row => row.item_id,
  sql: rows => `
    delete from item_annotations a using ${rows} r where a.item_type = r.item_type and a.item_id = r.item_id`,
})

/** The files that answers cite, in order, without trashed ones. Served by the primary key. */
export async function listAnnotations(db: Db, items: readonly number[]): Promise<Map<number, FileRow[]>> {
  const rows = await db<{ item_id: number; file_id: number }[]>`
    select item_id, file_id from item_annotations
    where item_type in ('message', 'comment', 'post') and item_id = any(${items as number[]}::bigint[])
    order by item_id, place`
  if (rows.length === 0) return new Map()
  const files = await findFiles(db, [...new Set(rows.map(({ file_id }) => file_id))])
  const isShown = ({ file_id }: { file_id: number }) => files.get(file_id)?.trashed_at === null
  const shown = Map.groupBy(rows.filter(isShown), ({ item_id }) => item_id)
  return new Map(Array.from(shown, ([item, cited]) => [item, cited.map(({ file_id }) => files.get(file_id)!)]))
}
