import type { Principal } from '../../auth/principal.ts'
import type { Db } from '../../postgres/sql.ts'
import { findVotes } from '../options/store.ts'
import { findStarred } from '../stars/store.ts'
import { findSubscribed } from '../subscriptions/store.ts'
import type { ContentEntity } from '../content/kind.ts'
import type { Parts } from './parts.ts'
import type { ContentRow } from '../content/schema.ts'

/** What a caller did with the items of a page. */
export interface Mine {
  starred: ReadonlySet<number>
  /** The option voted for, by item. */
  votes: ReadonlyMap<number, number>
  /** The posts and files subscribed to. */
  subscribed: ReadonlySet<number>
}

export const noMine: Mine = { starred: new Set(), votes: new Map(), subscribed: new Set() }

/** The items that the caller starred. Looks only where somebody did. */
export async function loadStarred(db: Db, by: Principal, rows: readonly ContentRow[]): Promise<Mine['starred']> {
  const ids = rows.flatMap(({ id, star_count }) => (star_count > 0 ? id : []))
  return by.kind !== 'user' || ids.length === 0 ? noMine.starred : findStarred(db, by.user, ids)
}

/** What a subscription to an item is one to: a post itself, what a comment is about; null: the app. */
export function subscriptionOf(entity: ContentEntity, { id, parent_id }: ContentRow): number | null {
  return entity === 'post' ? id : parent_id
}

/** The posts and files among what items hang on that the caller is subscribed to. None for what hangs on its app. */
export async function loadSubscribed(
  db: Db,
  by: Principal,
  entity: ContentEntity,
  rows: readonly ContentRow[],
): Promise<Mine['subscribed']> {
  const ids = new Set(rows.flatMap(row => subscriptionOf(entity, row) ?? []))
  return by.kind !== 'user' || ids.size === 0 ? noMine.subscribed : findSubscribed(db, by.user, [...ids])
}

/** All of it. */
export async function loadMine(
  db: Db,
  by: Principal,
  entity: ContentEntity,
  rows: readonly ContentRow[],
): Promise<Mine> {
  const polls = rows.flatMap(({ id, option_count }) => (option_count > 0 ? id : []))
  const [starred, votes, subscribed] = await Promise.all([
    loadStarred(db, by, rows),
    by.kind !== 'user' || polls.length === 0 ? noMine.votes : findVotes(db, polls, by.user),
    loadSubscribed(db, by, entity, rows),
  ])
  return { starred, votes, subscribed }
}

/** The same with the attachments that the caller starred: files that are starred are rarely attachments. */
export async function withStarredFiles(
  db: Db,
  by: Principal,
  mine: Mine,
  parts: ReadonlyMap<number, Parts>,
): Promise<Mine> {
  const files = Array.from(parts.values(), ({ attachments }) => attachments).flat()
  const ids = files.flatMap(({ id, star_count }) => (star_count > 0 ? id : []))
  if (by.kind !== 'user' || ids.length === 0) return mine
  return { ...mine, starred: new Set([...mine.starred, ...(await findStarred(db, by.user, ids))]) }
}
