import type { UserCache } from '../../auth/user-cache.ts'
import type { Principal } from '../../auth/principal.ts'
import type { AppRow, AppState } from '../../engine/state.ts'
import { verbatim } from '../../api/json.ts'
import { toPagedList } from '../../api/page.ts'
import { signLasting, signLink } from '../blobs/content/links.ts'
import type { Served } from '../route.ts'
import { accessOf, levelOf, permissionsOf } from './members/access.ts'
import { avatarUrl, type Presence } from '../users/represent.ts'
import { showMember } from './members/represent.ts'
import { isConversation, showType } from './kinds.ts'
import { titleOf } from './naming.ts'
import { isUnread } from './own/unread.ts'

/** The caller, and the data at hand. */
export type Viewer = Served<'by' | 'userCache' | 'origin'>

/** The members of an app that are equal for all readers: for events, where one text serves all. */
export function showAppRef(app: AppRow, origin: string) {
  return {
    id: app.id,
    rev: app.rev,
    ...showType(app.type),
    uid: app.uid,
    name: app.name,
    description: app.description,
    avatar_url:
      app.picture_id === null ? null : signLasting(origin, `/apps/${app.id}/pictures/${app.picture_id}`, app.secret),
    metadata: verbatim(app.metadata),
    tags: app.tags,
    access: app.access,
    directory_id: app.directory_id,
    created_at: app.created_at,
    updated_at: app.updated_at,
    is_trashed: app.trashed_at !== null,
  }
}

/** The summary of an app. Its namesakes (see naming.ts) must be in memory. */
export function showAppSummary(state: AppState, viewer: Viewer) {
  const { by, userCache, origin } = viewer
  const own = by.kind === 'user' ? state.member(by.user) : undefined
  const shown = showAppRef(state.app, origin)
  return {
    ...shown,
    name: titleOf(state, by.user, userCache),
    archive_url: hasArchive(state.app) ? signLink(origin, archivePath(state.app.id, by), state.app.secret) : null,
    avatar_url: shown.avatar_url ?? partnerAvatar(state, viewer),
    is_pinned: own?.pinned_at != null,
    is_starred: own?.starred_at != null,
    is_subscribed: by.kind === 'user' && isSubscribed(state, by.user),
    is_unread: by.kind === 'user' && isUnread(state.app, by.user, own),
    permissions: permissionsOf[levelOf(state, by, userCache)],
  }
}

/** A private chat has the picture of its other member, who is in memory unless the chat has a name. */
function partnerAvatar(state: AppState, { by, userCache, origin }: Viewer): string | null {
  if (state.app.type !== 'private_chat' || by.kind !== 'user') return null
  for (const { user_id } of state.members()) {
    const partner = user_id === by.user ? undefined : userCache.find(user_id)
    if (partner !== undefined) return avatarUrl(partner, origin)
  }
  return null
}

/** True where a files app has content for a ZIP. */
function hasArchive({ type, item_count, trashed_at }: AppRow): boolean {
  return type === 'files' && item_count > 0 && trashed_at === null
}

/** A user's link names the user: only users with access when it is opened get later files. */
function archivePath(app: number, by: Principal): string {
  return by.kind === 'key' ? `/apps/${app}/archive` : `/apps/${app}/archive/${by.user}`
}

/** The most members within a detailed app; the others are in its members list. */
export const shownMembers = 25

/** The first members of an app who are not trashed, in joining order: a detailed app needs them in memory. */
export function firstMembers(state: AppState, { trashed }: UserCache, most = shownMembers): number[] {
  const ids: number[] = []
  for (const { user_id, access } of state.members()) {
    if (access !== null && !trashed.has(user_id)) ids.push(user_id)
    if (ids.length === most) break
  }
  return ids
}

/** The number of members who are not trashed. Iterates over trashed users or members, whichever are fewer. */
export function countMembers(state: AppState, { trashed }: UserCache): number {
  let count = state.memberCount
  if (trashed.size < count) {
    for (const user of trashed) if (state.member(user)?.access != null) count--
  } else {
    for (const { user_id, access } of state.members()) if (access !== null && trashed.has(user_id)) count--
  }
  return count
}

/** The detailed app. `lastMessage` is its newest message as the caller sees it. */
export function showApp(state: AppState, viewer: Viewer & { presence: Presence }, lastMessage: object | null) {
  const { userCache, origin, presence } = viewer
  const members = firstMembers(state, userCache).map(user => {
    const access = accessOf(state, user, userCache)
    return showMember(userCache.show(user), state.member(user), { app: state.app, origin, access, presence })
  })
  return {
    ...showAppSummary(state, viewer),
    last_message: lastMessage,
    members: toPagedList({ skip: 0, countOnly: false }, countMembers(state, userCache), members),
  }
}

/** By the user's choice, or by default: the creator, and all members of a conversation. */
export function isSubscribed(state: Pick<AppState, 'app' | 'member'>, user: number): boolean {
  const own = state.member(user)
  if (own === undefined) return false
  if (own.is_subscribed !== null) return own.is_subscribed
  return state.app.owner_id === user || (own.access !== null && isConversation(state.app.type))
}
