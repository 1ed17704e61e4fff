import type { Work } from '../../../../engine/command.ts'
import { batch } from '../../../../postgres/batch.ts'
import type { ContentRow } from '../../schema.ts'
import { blockSize } from './position.ts'

/** The place of a block: an app directly (0), or a post or file in it. */
const placeColumns = { app_id: 'bigint', parent_id: 'bigint' } as const

const insertBlock = batch({
  name: 'insert_block',
  columns: { ...placeColumns, first_id: 'bigint', made_at: 'timestamptz' },
  sql: (rows, columns) => `insert into blocks (${columns}) select ${columns} from ${rows} r`,
})

/** Starts a block with the first item of a place, and with each 1,000th after it. */
export function startBlock(
  work: Work<unknown>,
  { app_id, parent_id, id, created_at }: Pick<ContentRow, 'app_id' | 'parent_id' | 'id' | 'created_at'>,
): void {
  work.write(insertBlock, { app_id, parent_id: parent_id ?? 0, first_id: id, made_at: created_at })
}

/**
 * Changes the counts of the block in which an item was made: trashed, restored (-1), deleted, edited for the first
 * time.
 */
const changeBlock = batch({
  name: 'change_block',
  columns: { ...placeColumns, id: 'bigint', trashed: 'int', deleted: 'int', edited: 'int', edited_trashed: 'int' },
  key: row => row.id,
  sql: rows => `
    update blocks b set trashed_count = trashed_count + r.trashed, deleted_count = deleted_count + r.deleted,
      edited_count = edited_count + r.edited, edited_trashed_count = edited_trashed_count + r.edited_trashed
    from ${rows} r
    where b.app_id = r.app_id and b.parent_id = r.parent_id and b.first_id = (
      select max(first_id) from blocks x
      where x.app_id = r.app_id and x.parent_id = r.parent_id and x.first_id <= r.id)`,
})

interface EditChange {
  app_id: number
  parent_id: number
  id: number
  /** When the item was last edited, whose count there ends or is trashed or restored; null if it never was. */
  before: Date | null
  items: number
  trashed: number
  /** When it is edited now; null where it is not. */
  now: Date | null
}

/**
 * Counts edits by their time. A block is started when the newest has 1,000, at a later time than its last edit, so that
 * the time alone determines the block of an edit.
 */
const changeEdits = batch<EditChange>({
  name: 'change_edits',
  columns: { ...placeColumns, id: 'bigint', before: 'timestamptz', items: 'int', trashed: 'int', now: 'timestamptz' },
  key: row => row.id,
  // One statement for both: PostgreSQL updates a row once, and an item may stay in its block.
  sql: rows => `
    insert into edit_blocks as b (app_id, parent_id, first_at, last_at, made_count, item_count, trashed_count)
    select app_id, parent_id, first_at, max(at), sum(made), sum(items), sum(trashed) from (
      select r.app_id, r.parent_id, x.first_at, r.before as at, 0 as made, r.items, r.trashed
      from ${rows} r cross join lateral (
        select first_at from edit_blocks x
        where x.app_id = r.app_id and x.parent_id = r.parent_id and x.first_at <= r.before
        order by first_at desc limit 1
      ) x
      union all
      select r.app_id, r.parent_id,
        case when x.made_count < ${blockSize} or x.last_at >= r.now then x.first_at else r.now end, r.now, 1, 1, 0
      from ${rows} r left join lateral (
        select first_at, last_at, made_count from edit_blocks x
        where x.app_id = r.app_id and x.parent_id = r.parent_id
        order by first_at desc limit 1
      ) x on true
      where r.now is not null
    ) c group by app_id, parent_id, first_at
    on conflict (app_id, parent_id, first_at) do update set last_at = greatest(b.last_at, excluded.last_at),
      made_count = b.made_count + excluded.made_count, item_count = b.item_count + excluded.item_count,
      trashed_count = b.trashed_count + excluded.trashed_count`,
})

type Item = Pick<ContentRow, 'app_id' | 'parent_id' | 'id' | 'updated_at' | 'trashed_at'>

/** Counts an edit of a visible item, in the block where the item was made and in the block of the edit. */
export function countEdit(work: Work<unknown>, { app_id, parent_id, id, updated_at }: Item): void {
  const place = { app_id, parent_id: parent_id ?? 0, id }
  if (updated_at === null) work.write(changeBlock, { ...place, trashed: 0, deleted: 0, edited: 1, edited_trashed: 0 })
  work.write(changeEdits, { ...place, before: updated_at, items: -1, trashed: 0, now: work.now })
}

/** Counts that an item was trashed (1), restored (-1) or deleted, in all blocks that count it. */
export function countMove(
  work: Work<unknown>,
  { app_id, parent_id, id, updated_at }: Item,
  { trashed, deleted }: { trashed: number; deleted: number },
): void {
  const place = { app_id, parent_id: parent_id ?? 0, id }
  const isEdited = updated_at !== null
  const edited = isEdited ? { edited: -deleted, edited_trashed: trashed } : { edited: 0, edited_trashed: 0 }
  work.write(changeBlock, { ...place, trashed, deleted, ...edited })
  if (isEdited) work.write(changeEdits, { ...place, before: updated_at, items: -deleted, trashed, now: null })
}

/** Removes the blocks of a post or file whose comments are invisible from now on. */
export function dropBlocks(work: Work<unknown>, { app_id, id }: Pick<ContentRow, 'app_id' | 'id'>): void {
  work.write(removeBlocks, { app_id, parent_id: id })
  work.write(removeEditBlocks, { app_id, parent_id: id })
}

const removalFrom = (table: 'blocks' | 'edit_blocks') =>
  batch({
    name: `remove_${table}`,
    columns: placeColumns,
    key: row => row.parent_id,
    sql: rows => `delete from ${table} b using ${rows} r where b.app_id = r.app_id and b.parent_id = r.parent_id`,
  })
const removeBlocks = removalFrom('blocks')
const removeEditBlocks = removalFrom('edit_blocks')
