import type { User } from '../../auth/user-cache.ts'
import type { Principal } from '../../auth/principal.ts'
import { Fixed, verbatim } from '../../api/json.ts'
import { signLasting } from '../blobs/content/links.ts'

/** Tells who is active. */
export interface Presence {
  isActive(user: number): boolean
}

/** The caller, and the data at hand. */
export interface Viewer {
  by: Principal
  origin: string
  /** The users among those shown whom the caller follows. */
  followed: ReadonlySet<number>
  presence: Presence
}

/** The summary of a user for one caller, as in lists. */
export function showUserSummary(person: User, { by, origin, followed, presence }: Viewer) {
  const isOwn = by.kind === 'user' && by.user === person.id
  return {
    ...showAnyone(person, origin),
    username: by.kind === 'key' || isOwn ? person.username : null,
    presence: presenceOf(person, presence),
    is_followed: by.kind === 'user' ? followed.has(person.id) : null,
  }
}

interface Summary {
  origin: string
  json: Fixed
}

const summaries = new WeakMap<User, Summary>()
const people = new WeakMap<Fixed, User>()

/**
 * The summary of a user for all readers, as the author of content. It is written with every message, so its JSON is
 * cached with the User, which any change replaces.
 */
export function summaryOf(person: User, origin: string): Fixed {
  const known = summaries.get(person)
  if (known !== undefined && (known.origin === origin || person.picture_id === null)) return known.json
  const json = new Fixed(showAnyone(person, origin))
  summaries.set(person, { origin, json })
  people.set(json, person)
  return json
}

/** The user whose summary this is; undefined for anything else. */
export function personOf(summary: Fixed): User | undefined {
  return people.get(summary)
}

/** The short form of a user, as the actor of events and notifications. */
export function actorOf(person: User, origin: string) {
  return {
    id: person.id,
    uid: person.uid,
    name: person.display_name,
    avatar_url: avatarUrl(person, origin),
    is_agent: person.is_agent ? true : null,
  }
}

/** Absent without a picture, so that clients draw initials. Another picture has another URL. */
export function avatarUrl({ id, picture_id, secret }: User, origin: string): string | null {
  return picture_id === null ? null : signLasting(origin, `/users/${id}/${picture_id}`, secret)
}

/** Agents are always active; the system user and the deleted user never are. */
export function presenceOf(person: User, presence: Presence): 'active' | 'away' | null {
  if (person.id <= 0) return null
  if (person.trashed_at !== null) return 'away'
  return person.is_agent || presence.isActive(person.id) ? 'active' : 'away'
}

function showAnyone(person: User, origin: string) {
  return {
    ...actorOf(person, origin),
    given_name: person.given_name,
    middle_name: person.middle_name,
    family_name: person.family_name,
    nickname: person.nickname,
    email: person.email,
    phone_number: person.phone_number,
    directories: person.directories,
    comment: person.comment,
    metadata: verbatim(person.metadata),
    tags: person.tags,
    is_trashed: person.trashed_at !== null,
    // The special users have no creation.
    created_at: person.id > 0 ? person.created_at : null,
    updated_at: person.updated_at,
  }
}
