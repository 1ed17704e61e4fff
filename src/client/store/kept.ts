import type { Item } from './fold.ts'
import type { Write } from './writes.ts'

/** What is kept of a list of items beyond the life of the page. */
export interface Kept {
  /** Of the list; names it. */
  path: string
  app: string
  type: 'message' | 'post' | 'comment' | 'file'
  parent?: { type: 'post' | 'file'; id: number }
  /** The place in the app's history of the items; undefined where there are writes alone. */
  rev: number | undefined
  epoch: string | undefined
  items: Item[]
  hasMore: boolean
  writes: Write[]
  /** When it was kept, to drop the oldest. */
  keptAt: number
}

/** Where lists are kept. */
export interface Keeper {
  /** What was kept by an earlier life. */
  readonly kept: readonly Kept[]
  /** A list has changed; `isUrgent` where own writes have. */
  changed(path: string, isUrgent: boolean, state: () => Kept | undefined): void
}
