import type { Work } from '../../../../engine/command.ts'
import { batch } from '../../../../postgres/batch.ts'
import type { ContentRow } from '../../schema.ts'

/** The place of a block: an app directly (0), or a post or file in it. */
const placeColumns = { app_id: 'bigint', parent_id: 'bigint' } as const

const insertBlock = batch({
  name: 'insert_block',
  columns: { ...placeColumns, first_id: 'bigint' },
  sql: (rows, columns) => `insert into blocks (${columns}) select ${columns} from ${rows} r`,
})

/** Starts a block with the first item of a place, and with each 1,000th after it. */
export function startBlock(
  work: Work<unknown>,
  { app_id, parent_id, id }: Pick<ContentRow, 'app_id' | 'parent_id' | 'id'>,
): void {
  work.write(insertBlock, { app_id, parent_id: parent_id ?? 0, first_id: id })
}

const changeBlock = batch({
  name: 'change_block',
  columns: { ...placeColumns, id: 'bigint', trashed: 'int', deleted: 'int' },
  key: row => row.id,
  sql: rows => `
    update blocks b set trashed_count = trashed_count + r.trashed, deleted_count = deleted_count + r.deleted
    from ${rows} r
    where b.app_id = r.app_id and b.parent_id = r.parent_id and b.first_id = (
      select max(first_id) from blocks x
      where x.app_id = r.app_id and x.parent_id = r.parent_id and x.first_id <= r.id)`,
})

/** Counts that an item was trashed (1), restored (-1) or deleted, in the block in which it was made. */
export function countMove(
  work: Work<unknown>,
  { app_id, parent_id, id }: Pick<ContentRow, 'app_id' | 'parent_id' | 'id'>,
  { trashed, deleted }: { trashed: number; deleted: number },
): void {
  work.write(changeBlock, { app_id, parent_id: parent_id ?? 0, id, trashed, deleted })
}

const removeBlocks = batch({
  name: 'remove_blocks',
  columns: placeColumns,
  key: row => row.parent_id,
  sql: rows => `delete from blocks b using ${rows} r where b.app_id = r.app_id and b.parent_id = r.parent_id`,
})

/** Removes the blocks of a post or file whose comments are invisible from now on. */
export function dropBlocks(work: Work<unknown>, { app_id, id }: Pick<ContentRow, 'app_id' | 'id'>): void {
  work.write(removeBlocks, { app_id, parent_id: id })
}
