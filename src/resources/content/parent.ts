import { NotFound } from '../../lib/errors.ts'
import type { Batch } from '../../storage/batch.ts'
import type { Db } from '../../storage/sql.ts'
import type { ContentRow } from './schema.ts'
import type { CountChange } from './store.ts'

/** What a comment can be about. */
export type ParentType = 'post' | 'file'

/** As much of a post or file as its comments depend on. */
export interface Parent {
  id: number
  app_id: number
  /** Visible comments. */
  comment_count: number
  /** Comments ever made. */
  made_count: number
  trashed_at: Date | null
}

/** What a resource offers so that its entities can be commented. */
export interface ParentStore {
  find: (db: Db, id: number) => Promise<Parent | null>
  changeCounts: Batch<CountChange>
}

export type Parents = Partial<Record<ParentType, ParentStore>>

/**
 * What an item is about; null for what was made directly in an app. 404 where that is in the trash or gone: comments
 * are hidden with it.
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

/** How events and answers name what a comment is about; null for anything else. */
export function toParentRef({ parent_type, parent_id }: Pick<ContentRow, 'parent_type' | 'parent_id'>) {
  return parent_type === null || parent_id === null ? null : { id: parent_id, type: parent_type }
}
