import type { Commit } from '../engine/event.ts'
import type { AppRow, AppState, MemberRow } from '../engine/state.ts'
import type { AppPolicy } from './app-policy.ts'
import type { Sessions } from './sessions/sessions.ts'

interface ListingParts {
  sessions: Pick<Sessions, 'users'>
  policy: Pick<AppPolicy, 'isListed' | 'isRemovable'>
}

/** User → true where a commit has put the app into the user's lists, false where it has taken it out. */
export type Listings = ReadonlyMap<number, boolean>

/** The listings of users with a session on this node. `state`: the app's after the commit. */
export function listingsOf(commit: Commit, state: AppState, { sessions, policy }: ListingParts): Listings {
  const { before, after, members } = commit
  const listings = new Map<number, boolean>()
  const compare = (user: number, ownBefore: MemberRow | undefined, own: MemberRow | undefined) => {
    const isThere = policy.isListed(after, own)
    if (isThere !== policy.isListed(before, ownBefore)) listings.set(user, isThere)
  }
  for (const [user, own] of members) if (sessions.users.has(user)) compare(user, own.before, own.after)
  if (mayMoveForAll(commit, policy)) {
    for (const user of present(state, sessions)) {
      if (!members.has(user)) compare(user, state.member(user), state.member(user))
    }
  }
  return listings
}

/** True where the app may have entered or left lists of users whose own relation to it has not changed. */
function mayMoveForAll({ before, after }: Commit, { isRemovable }: ListingParts['policy']): boolean {
  if (after.trashed_at !== before.trashed_at || after.deleted_at !== before.deleted_at) return true
  return after.last_id !== before.last_id && isRemovable(after)
}

/** The users with a session on this node and a relation to the app. */
export function* present(state: AppState, { users }: Pick<Sessions, 'users'>): Iterable<number> {
  if (users.size < state.memberCount) {
    for (const user of users.keys()) if (state.member(user) !== undefined) yield user
  } else {
    for (const { user_id } of state.members()) if (users.has(user_id)) yield user_id
  }
}

/** The commit that has created an app, as the one that has changed it from a deleted app. */
export function creationOf(app: AppRow, events: Commit['events']): Commit {
  return { before: { ...app, deleted_at: app.created_at }, after: app, events, members: new Map() }
}
