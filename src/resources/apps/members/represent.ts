import type { User } from '../../../auth/user-cache.ts'
import type { Access, AppRow, MemberRow } from '../../../engine/state.ts'
import { isChat } from '../kinds.ts'
import { avatarUrl, presenceOf, type Presence } from '../../users/represent.ts'

interface MemberView {
  app: AppRow
  origin: string
  access: Access
  /** Absent in events, where one cached text serves all readers. */
  presence?: Presence
}

/** The item of a member, or of a user who could become one. */
export function showMember(person: User, row: MemberRow | undefined, { app, origin, access, presence }: MemberView) {
  // Read markers are shown where there are messages to read.
  const marked = isChat(app.type) ? row : undefined
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
