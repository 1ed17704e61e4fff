import { batch } from '../../../storage/batch.ts'

/** Where a block is: in an app directly (0), or with a post or file of it. */
interface BlockPlace {
  app_id: number
  parent_id: number
}

/** Starts a block: for the first item of a place and each 1,000th after it. */
export const insertBlock = batch<BlockPlace & { first_id: number }>({
  name: 'insert_block',
  columns: { app_id: 'bigint', parent_id: 'bigint', first_id: 'bigint' },
  sql: rows => `
    insert into blocks (app_id, parent_id, first_id) select app_id, parent_id, first_id from ${rows} r`,
})

export interface BlockChange extends BlockPlace {
  /** The item that was trashed, restored or deleted. */
  id: number
  trashed: number
  deleted: number
}

/** Counts an item as trashed, restored (-1) or deleted in the block that it was made in. */
export const changeBlock = batch<BlockChange>({
  name: 'change_block',
  columns: { app_id: 'bigint', parent_id: 'bigint', id: 'bigint', trashed: 'int', deleted: 'int' },
  key: row => row.id,
  sql: rows => `
    update blocks b set trashed_count = trashed_count + r.trashed, deleted_count = deleted_count + r.deleted
    from ${rows} r
    where b.app_id = r.app_id and b.parent_id = r.parent_id and b.first_id = (
      select max(first_id) from blocks x
      where x.app_id = r.app_id and x.parent_id = r.parent_id and x.first_id <= r.id)`,
})

/** Removes the blocks of a post or file whose comments nobody sees any more. */
export const removeBlocks = batch<BlockPlace>({
  name: 'remove_blocks',
  columns: { app_id: 'bigint', parent_id: 'bigint' },
  key: row => row.parent_id,
  sql: rows => `delete from blocks b using ${rows} r where b.app_id = r.app_id and b.parent_id = r.parent_id`,
})
