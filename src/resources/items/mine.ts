import type { Principal } from '../../auth/principal.ts'
import type { Db } from '../../postgres/sql.ts'
import { findStarred } from '../stars/store.ts'
import { findSubscribed } from '../subscriptions/store.ts'
import type { ContentEntity } from '../content/kind.ts'
import type { ContentRow } from '../content/schema.ts'

/** The caller's stars and subscriptions for the items of a page. Unlike parts, they are in summaries too. */
export interface Mine {
  starred: ReadonlySet<number>
  /** The posts and files that the caller is subscribed to. */
  subscribed: ReadonlySet<number>
}

export const noMine: Mine = { starred: new Set(), subscribed: new Set() }

/** The subject of an item's subscription: a post itself, a comment's parent; null: the app. */
export function subscriptionOf(entity: ContentEntity, { id, parent_id }: ContentRow): number | null {
  return entity === 'post' ? id : parent_id
}

/** Reads stars only for items with stars, and subscriptions only for subjects other than the app. */
export async function loadMine(
  db: Db,
  by: Principal,
  entity: ContentEntity,
  rows: readonly ContentRow[],
): Promise<Mine> {
  if (by.kind !== 'user') return noMine
  const starred = rows.flatMap(({ id, star_count }) => (star_count > 0 ? id : []))
  const parents = new Set(rows.flatMap(row => subscriptionOf(entity, row) ?? []))
  const [own, subscribed] = await Promise.all([
    starred.length === 0 ? noMine.starred : findStarred(db, by.user, starred),
    parents.size === 0 ? noMine.subscribed : findSubscribed(db, by.user, [...parents]),
  ])
  return { starred: own, subscribed }
}
