import type { UserCache } from '../../../auth/user-cache.ts'
import type { AppState } from '../../../engine/state.ts'
import type { Tx } from '../../../postgres/sql.ts'
import { isConversation } from '../../apps/kinds.ts'
import { namesakes, titleOf } from '../../apps/naming.ts'
import { isSubscribed } from '../../apps/represent.ts'
import { canRead } from '../../apps/members/access.ts'

/** The data that decisions about an app's notifications depend on. */
export interface NotificationContext {
  tx: Tx
  state: AppState
  userCache: UserCache
}

/**
 * True where a user may be notified of an item: the user may read the app, and has not removed it since. The user must
 * be in memory.
 */
export function mayBeNotified(
  { state, userCache }: Omit<NotificationContext, 'tx'>,
  user: number,
  id: number,
): boolean {
  const person = userCache.find(user)
  if (person === undefined || person.id <= 0 || person.is_agent || person.trashed_at !== null) return false
  return canRead(state, user, userCache) && id > (state.member(user)?.hidden_id ?? 0)
}

/** The subscribers of the app who were subscribed at `rev`: later ones are not notified of earlier events. */
export function subscribersAt(state: AppState, rev: number): number[] {
  const there = [...state.members()].filter(
    ({ joined_rev, subscribed_rev }) => (joined_rev ?? 0) < rev && (subscribed_rev ?? 0) < rev,
  )
  return there.map(({ user_id }) => user_id).filter(user => isSubscribed(state, user))
}

/** The name of the app for a user: its name, its uid, or its title. */
export function nameFor({ state, userCache }: Omit<NotificationContext, 'tx'>, user: number): string {
  const { name, uid, id } = state.app
  return name ?? uid ?? titleOf(state, user, userCache) ?? `App ${id}`
}

/** The users whose names may be in the title. */
export function usersInTitle(state: AppState): number[] {
  return isConversation(state.app.type) ? namesakes(state) : []
}
