import type { UserCache } from '../../auth/user-cache.ts'
import { actorOf } from '../users/represent.ts'
import type { ReactionRow } from './schema.ts'

/** A reaction in lists of items. */
export function showReactionSummary({ content, created_at }: ReactionRow) {
  return { content, created_at }
}

/** A reaction with its user in the short form, because an item may have many. The users must be in memory. */
export function showReaction(row: ReactionRow, userCache: UserCache, origin: string) {
  return { ...showReactionSummary(row), created_by: actorOf(userCache.show(row.user_id), origin) }
}
