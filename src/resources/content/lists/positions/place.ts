import type { Db, Fragment } from '../../../../postgres/sql.ts'

/** Where items were made: directly in an app, or about a post or file in it. */
export interface Place {
  app: number
  parent: number | null
}

/** Which items of a place are listed: the visible ones, the trashed ones, or both. */
export interface Shown {
  kept: 'visible' | 'trashed' | 'all'
  /** Whose trash is shown beside what is visible. */
  ownTrash?: number | undefined
}

export const visible: Shown = { kept: 'visible' }

/** Some of the items of a place. `table` holds them. */
export interface Listed {
  table: string
  place: Place
  shown: Shown
}

/** Two bounds of several columns do not tell PostgreSQL that the first is not null, as indexes of comments ask for. */
export function isOfKind(db: Db, { parent }: Place): Fragment {
  return parent === null ? db`parent_id is null` : db`parent_id is not null`
}

/** Ids of a place: from one on, and before one. */
interface Stretch {
  from?: number | Fragment | undefined
  before?: number | undefined
}

/** The column that the indexes of a place begin with: (app_id, id) and (parent_id, id). */
export function toKey(db: Db, { parent }: Place): Fragment {
  return parent === null ? db`app_id` : db`parent_id`
}

/**
 * `app_id = app`, for what is ordered by (app_id, id). Said as an equation, PostgreSQL takes `order by app_id, id` for
 * `order by id` and may walk the primary key: over all rows of other apps that are newer, or older, than this one's.
 * A third bound beside two would make it begin at the app's first row.
 */
export function isWithin(db: Db, place: Place, { from, before }: Stretch = {}): Fragment {
  const key = toKey(db, place)
  const value = place.parent ?? place.app
  return db`${from === undefined ? db`${key} >= ${value}` : db`(${key}, id) >= (${value}, ${from})`}
    and ${before === undefined ? db`${key} <= ${value}` : db`(${key}, id) < (${value}, ${before})`}
    and ${isOfKind(db, place)}`
}

export function isShown(db: Db, { kept, ownTrash }: Shown): Fragment {
  if (ownTrash !== undefined) return db`(trashed_at is null or created_by = ${ownTrash})`
  if (kept === 'all') return db`true`
  return kept === 'visible' ? db`trashed_at is null` : db`trashed_at is not null`
}

/** What somebody has in the trash of a place. Served by messages_trash and its likes. */
export function isTrashOf(db: Db, place: Place, author: number): Fragment {
  const inPlace = place.parent === null ? db`parent_id is null` : db`parent_id = ${place.parent}`
  return db`app_id = ${place.app} and ${inPlace} and created_by = ${author} and trashed_at is not null`
}
