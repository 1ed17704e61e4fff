import { batch } from '../../../postgres/batch.ts'
import type { Db } from '../../../postgres/sql.ts'

interface ContextRow {
  item_type: string
  item_id: number
  /** An array literal. */
  blob_ids: string
  created_at: Date
}

/** Stores the blobs that agents read with an item. */
export const insertContext = batch<ContextRow>({
  name: 'insert_item_context',
  columns: { item_type: 'text', item_id: 'bigint', blob_ids: 'text', created_at: 'timestamptz' },
  assigns: { item_id: 'number', created_at: 'time' },
  sql: rows => `
    insert into item_context (item_type, item_id, blob_ids, created_at)
    select item_type, item_id, blob_ids::bigint[], created_at from ${rows} r`,
})

/** Removes what agents read with deleted items. Served by the primary key. */
export const removeContextOf = batch({
  name: 'remove_item_context_of',
  columns: { item_type: 'text', item_id: 'bigint' },
  key: row => row.item_id,
  sql: rows => `
    delete from item_context c using ${rows} r where c.item_type = r.item_type and c.item_id = r.item_id`,
})

/** The ids of the blobs that agents read with an item, in the order of the request. */
export async function findContext(db: Db, type: string, item: number): Promise<number[]> {
  const [row] = await db<{ blob_ids: number[] }[]>`
    select blob_ids from item_context where item_type = ${type} and item_id = ${item}`
  return row?.blob_ids ?? []
}

/** Removes rows older than a time, `limit` at most; returns how many. Served by item_context_age. */
export async function removeContext(db: Db, before: Date, limit: number): Promise<number> {
  const { count } = await db`
    delete from item_context where (item_type, item_id) in (
      select c.item_type, c.item_id from item_context c
      where c.created_at < ${before} order by c.created_at limit ${limit} for update skip locked)`
  return count
}
