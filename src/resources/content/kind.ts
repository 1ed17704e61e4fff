import type { Parents } from './parent.ts'
import { contentStore, type ContentStore, type ContentTable } from './store.ts'

export type ContentEntity = 'message' | 'post' | 'comment'

/** One of the three kinds of content: what tells messages, posts and comments from each other. */
export interface ContentKind {
  entity: ContentEntity
  /** How lists are sorted where the caller does not say. */
  defaultOrder: 'id' | 'id desc'
  /** Whether an app of this type holds such items directly. */
  fits: (appType: string) => boolean
  /** True where reading markers move over these items. */
  isMarked: boolean
  /** What such items can be about. */
  parents: Parents
  /** Whether such items can be commented. */
  isCommented: boolean
  store: ContentStore
}

interface Declared {
  entity: ContentEntity
  table: ContentTable
  fits: (appType: string) => boolean
  defaultOrder?: 'id' | 'id desc'
  isMarked?: boolean
  parents?: Parents
  isCommented?: boolean
}

/** Declares a kind of content; its store follows from it. */
export function contentKind({
  entity,
  table,
  fits,
  defaultOrder = 'id',
  isMarked = false,
  parents = {},
  isCommented = false,
}: Declared): ContentKind {
  return { entity, defaultOrder, fits, isMarked, parents, isCommented, store: contentStore(table) }
}
