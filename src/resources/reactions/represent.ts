import type { People } from '../../actors/people.ts'
import { actorOf } from '../users/represent.ts'
import type { ReactionRow } from './schema.ts'

/** A reaction, with who gave it in the short form: an item may have many. They must be in memory. */
export function showReaction({ content, created_at, user_id }: ReactionRow, people: People, origin: string) {
  return { content, created_at, created_by: actorOf(people.show(user_id), origin) }
}
