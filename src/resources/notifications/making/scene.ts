import type { UserCache } from '../../../auth/user-cache.ts'
import type { AppState } from '../../../engine/state.ts'
import type { Tx } from '../../../postgres/sql.ts'
import { isConversation } from '../../apps/kinds.ts'
import { namesakes, titleOf } from '../../apps/naming.ts'
import { isSubscribed } from '../../apps/represent.ts'
import { canRead } from '../../apps/members/access.ts'

/** What deciding about an app's notifications needs. */
export interface Scene {
  tx: Tx
  state: AppState
  userCache: UserCache
}

/**
 * True for people who may be told of the item or file with this id: they may read the app, and have not removed it since
 * for themselves. They must be in memory.
 */
export function mayKnow({ state, userCache }: Scene, user: number, id: number): boolean {
  const person = userCache.find(user)
  if (person === undefined || person.id <= 0 || person.is_agent || person.trashed_at !== null) return false
  return canRead(state, user, userCache) && id > (state.member(user)?.hidden_id ?? 0)
}

/** Who is subscribed to the app and was so at `rev`: who has joined or subscribed since is not told of what was before. */
export function subscribersAt(state: AppState, rev: number): number[] {
  const there = [...state.members()].filter(
    ({ joined_rev, subscribed_rev }) => (joined_rev ?? 0) < rev && (subscribed_rev ?? 0) < rev,
  )
  return there.map(({ user_id }) => user_id).filter(user => isSubscribed(state, user))
}

/** What an app is called towards somebody: its name, its uid, or what it is titled for them. */
export function nameFor({ state, userCache }: Scene, user: number): string {
  const { name, uid, id } = state.app
  return name ?? uid ?? titleOf(state, user, userCache) ?? `App ${id}`
}

/** Everybody whose name may stand in the title. */
export function namesIn(state: AppState): number[] {
  return isConversation(state.app.type) ? namesakes(state) : []
}
