import type { UserCache } from '../../auth/user-cache.ts'
import { actorOf } from '../users/represent.ts'
import type { ReactionRow } from './schema.ts'

/** A reaction as list items show it. */
export function showReactionSummary({ content, created_at }: ReactionRow) {
  return { content, created_at }
}

/** A reaction, with who gave it in the short form: an item may have many. They must be in memory. */
export function showReaction(row: ReactionRow, userCache: UserCache, origin: string) {
  return { ...showReactionSummary(row), created_by: actorOf(userCache.show(row.user_id), origin) }
}
