import type { Principal } from '../../actors/principal.ts'
import type { Db } from '../../storage/sql.ts'
import { findVotes } from '../options/store.ts'
import { findStarred } from '../stars/store.ts'
import type { ContentRow } from './schema.ts'

/** What a caller did with the items of a page. */
export interface Mine {
  starred: ReadonlySet<number>
  /** The option voted for, by item. */
  votes: ReadonlyMap<number, number>
}

export const noMine: Mine = { starred: new Set(), votes: new Map() }

/** The items that the caller starred. Looks only where somebody did. */
export async function loadStarred(db: Db, by: Principal, rows: readonly ContentRow[]): Promise<Mine['starred']> {
  const ids = rows.flatMap(({ id, star_count }) => (star_count > 0 ? id : []))
  return by.kind !== 'user' || ids.length === 0 ? noMine.starred : findStarred(db, by.user, ids)
}

/** The same with votes. */
export async function loadMine(db: Db, by: Principal, rows: readonly ContentRow[]): Promise<Mine> {
  const polls = rows.flatMap(({ id, option_count }) => (option_count > 0 ? id : []))
  const [starred, votes] = await Promise.all([
    loadStarred(db, by, rows),
    by.kind !== 'user' || polls.length === 0 ? noMine.votes : findVotes(db, polls, by.user),
  ])
  return { starred, votes }
}
