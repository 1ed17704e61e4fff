import { NotFound } from '../../lib/errors.ts'
import type { Batch } from '../../postgres/batch.ts'
import type { Db } from '../../postgres/sql.ts'
import type { ContentRow } from './schema.ts'
import type { CountChange } from './store.ts'

/** The types of parents of comments. */
export type ParentType = 'post' | 'file'

/** The columns of a post or file that its comments depend on. */
export type Parent = Pick<ContentRow, 'id' | 'app_id' | 'comment_count' | 'made_count' | 'trashed_at'>

/** The interface of a resource whose items can have comments. */
export interface ParentStore {
  find: (db: Db, id: number) => Promise<Parent | null>
  changeCounts: Batch<CountChange>
}

export type Parents = Partial<Record<ParentType, ParentStore>>

/**
 * The parent of a comment; null for an item made directly in an app. 404 where the parent is in the trash or deleted,
 * which hides its comments.
 */
export async function requireParent(
  parents: Parents,
  { parent_type, parent_id }: Pick<ContentRow, 'parent_type' | 'parent_id'>,
  db: Db,
): Promise<Parent | null> {
  if (parent_type === null || parent_id === null) return null
  const parent = await parents[parent_type]?.find(db, parent_id)
  if (parent === undefined || parent === null || parent.trashed_at !== null) throw NotFound()
  return parent
}

/** The items that are visible, and whose parents are. Served by the primary keys. */
export async function listShown(db: Db, rows: ContentRow[]): Promise<ContentRow[]> {
  const kept = rows.filter(row => row.trashed_at === null)
  const ids = kept.flatMap(row => row.parent_id ?? [])
  if (ids.length === 0) return kept
  const parents = await db<{ id: number }[]>`
    select id from posts where id = any(${ids}::bigint[]) and trashed_at is null
    union all select id from files where id = any(${ids}::bigint[]) and trashed_at is null`
  const shown = new Set(parents.map(({ id }) => id))
  return kept.filter(({ parent_id }) => parent_id === null || shown.has(parent_id))
}

/** The parent of a comment in events and responses; null for other items. */
export function toParentRef({ parent_type, parent_id }: Pick<ContentRow, 'parent_type' | 'parent_id'>) {
  return parent_type === null || parent_id === null ? null : { id: parent_id, type: parent_type }
}
