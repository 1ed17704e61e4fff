import { contentEvents, type ContentEvents } from './events.ts'
import { contentStore, type ContentStore, type ContentTable } from './store.ts'

export type ContentEntity = 'message' | 'post' | 'comment'

/** One of the three kinds of content: what tells messages, posts and comments from each other. */
export interface ContentKind {
  entity: ContentEntity
  /** How lists are sorted where the caller does not say. */
  defaultOrder: 'id' | 'id desc'
  /** Whether an app of this type holds such items directly. */
  fits: (appType: string) => boolean
  store: ContentStore
  events: ContentEvents
}

interface Declared {
  entity: ContentEntity
  table: ContentTable
  fits: (appType: string) => boolean
  defaultOrder?: 'id' | 'id desc'
  /** True where reading markers move over these items. */
  isMarked?: boolean
}

/** Declares a kind of content; its store and events follow from it. */
export function contentKind({ entity, table, fits, defaultOrder = 'id', isMarked = false }: Declared): ContentKind {
  const store = contentStore(table)
  return { entity, defaultOrder, fits, store, events: contentEvents({ entity, table, isMarked, store }) }
}
