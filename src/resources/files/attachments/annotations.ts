import type { Db } from '../../../postgres/sql.ts'
import type { FileRow } from '../schema.ts'
import { findFiles } from '../store.ts'

/** True where an item may have annotations: answers of agents name their run. */
export function isAnswer({ metadata }: { metadata: Record<string, unknown> | null }): boolean {
  return typeof metadata?.run === 'string'
}

/** The files that answers cite, in that order, without those in the trash. Served by the primary key of item_annotations. */
export async function listAnnotations(db: Db, items: readonly number[]): Promise<Map<number, FileRow[]>> {
  const rows = await db<{ item_id: number; file_id: number }[]>`
    select item_id, file_id from item_annotations
    where item_type in ('message', 'comment', 'post') and item_id = any(${items as number[]}::bigint[])
    order by item_id, place`
  const found = new Map<number, FileRow[]>()
  if (rows.length === 0) return found
  const files = await findFiles(db, [...new Set(rows.map(({ file_id }) => file_id))])
  for (const { item_id, file_id } of rows) {
    const file = files.get(file_id)
    if (file === undefined || file.trashed_at !== null) continue
    found.set(item_id, [...(found.get(item_id) ?? []), file])
  }
  return found
}
