import type { UserCache, User } from '../../../auth/user-cache.ts'
import type { Access, AppRow, MemberRow } from '../../../engine/state.ts'
import { isChat } from '../kinds.ts'
import { avatarUrl, presenceOf, type Presence } from '../../users/represent.ts'

interface MemberView {
  app: AppRow
  userCache: UserCache
  origin: string
  access: Access
  /** Absent in events, where one cached text serves all readers. */
  presence?: Presence
  /** Read markers are shown where there are messages to read. */
  withMarkers?: boolean
}

export function showsMarkers(app: AppRow): boolean {
  return isChat(app.type)
}

/** The item of a member, or of a user who could become one. */
export function showMember(person: User, row: MemberRow | undefined, view: MemberView) {
  const { app, origin, access, presence, withMarkers } = view
  const marked = (withMarkers ?? showsMarkers(app)) ? row : undefined
  return {
    id: person.id,
    uid: person.uid,
    name: person.display_name,
    avatar_url: avatarUrl(person, origin),
    access,
    marked_at: marked?.marked_at ?? null,
    marked_id: marked?.marked_id ?? null,
    presence: presence === undefined ? null : presenceOf(person, presence),
    comment: person.comment,
    is_agent: person.is_agent ? true : null,
  }
}
