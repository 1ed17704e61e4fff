import type { Db, Fragment } from '../../../../postgres/sql.ts'

/** Where items were made: directly in an app, or as comments on a post or file in it. */
export interface Place {
  app: number
  parent: number | null
}

/** The listed items of a place: visible ones, trashed ones, or both. */
export interface Shown {
  kept: 'visible' | 'trashed' | 'all'
  /** The user whose trashed items are shown beside visible ones. */
  ownTrash?: number | undefined
}

export const visible: Shown = { kept: 'visible' }

/** The listed items of a place; `table` holds them. */
export interface Listed {
  table: string
  place: Place
  shown: Shown
}

/**
 * From bounds on several columns, PostgreSQL does not conclude that the first is not null, as indexes of comments
 * require.
 */
export function isOfKind(db: Db, { parent }: Place): Fragment {
  return parent === null ? db`parent_id is null` : db`parent_id is not null`
}

/** A range of ids: `from` included, `before` excluded. */
interface Stretch {
  from?: number | Fragment | undefined
  before?: number | undefined
}

/** The first column of a place's indexes: (app_id, id) and (parent_id, id). */
export function toKey(db: Db, { parent }: Place): Fragment {
  return parent === null ? db`app_id` : db`parent_id`
}

/**
 * `app_id = app` for the order (app_id, id). With an equation, PostgreSQL replaces `order by app_id, id` by `order by
 * id`, and may walk the primary key over all rows of other apps that are newer, or older. A third bound would make it
 * begin at the app's first row.
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

/** A condition: a user's trashed items of a place. Served by messages_trash and the like. */
export function isTrashOf(db: Db, place: Place, author: number): Fragment {
  const inPlace = place.parent === null ? db`parent_id is null` : db`parent_id = ${place.parent}`
  return db`app_id = ${place.app} and ${inPlace} and created_by = ${author} and trashed_at is not null`
}
