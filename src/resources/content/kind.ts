import type { Parents } from './parent.ts'
import type { ContentStore } from './store.ts'

export type ContentEntity = 'message' | 'post' | 'comment'

/** One of the three kinds of content, with the differences between messages, posts and comments. */
export interface ContentKind {
  entity: ContentEntity
  /** The order of lists by default. */
  defaultOrder: 'id' | 'id desc'
  /** True where an app of this type holds such items directly. */
  fits: (appType: string) => boolean
  /** True where read markers refer to these items. */
  isMarked: boolean
  /** The parents that such items may have. */
  parents: Parents
  /** True where such items can have comments. */
  isCommented: boolean
  store: ContentStore
}
