import type { Principal } from '../../auth/principal.ts'
import type { Db } from '../../postgres/sql.ts'
import { findStarred } from '../stars/store.ts'
import { findSubscribed } from '../subscriptions/store.ts'
import type { ContentEntity } from '../content/kind.ts'
import type { ContentRow } from '../content/schema.ts'

/** What a caller did with the items of a page. Unlike parts, summaries show it as well. */
export interface Mine {
  starred: ReadonlySet<number>
  /** The posts and files subscribed to. */
  subscribed: ReadonlySet<number>
}

export const noMine: Mine = { starred: new Set(), subscribed: new Set() }

/** What a subscription to an item is one to: a post itself, what a comment is about; null: the app. */
export function subscriptionOf(entity: ContentEntity, { id, parent_id }: ContentRow): number | null {
  return entity === 'post' ? id : parent_id
}

/** Looks for stars only where somebody gave one, and for subscriptions only to what is not an app. */
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
