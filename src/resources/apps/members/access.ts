import type { UserCache } from '../../../auth/user-cache.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { Access, AppRow, MemberRow } from '../../../engine/state.ts'
import { Forbidden, NotFound } from '../../../lib/errors.ts'
import { Json } from '../../../api/json.ts'

/** As much of an app as decides who may do what: a state, or a draft of one. */
export interface Guarded {
  readonly app: AppRow
  member(user: number): MemberRow | undefined
}

type Permission = 'list' | 'read' | 'create' | 'update' | 'delete' | 'admin'

const toJson = (...permissions: Permission[]) => new Json(JSON.stringify(permissions))

/** Written once, because every app and item is shown with them. */
const permissions: Record<Access, Json | null> = {
  none: null,
  read: toJson('list', 'read'),
  write: toJson('list', 'read', 'create'),
  admin: toJson('list', 'read', 'create', 'update', 'delete', 'admin'),
}

const ranks: Record<Access, number> = { none: 0, read: 1, write: 2, admin: 3 }

/**
 * What a user may do in an app: owner, then own membership (also where it gives less than the default), then the
 * app's default, which counts only inside its directory. The person must be in memory.
 */
export function accessOf(state: Guarded, user: number, userCache: UserCache): Access {
  const { app } = state
  if (app.owner_id === user) return 'admin'
  const own = state.member(user)?.access
  if (own) return own
  if (app.access === 'none') return 'none'
  return isInside(app, user, userCache) ? app.access : 'none'
}

/** True for everybody where the app has no directory, else for those in it. The person must be in memory. */
export function isInside(app: AppRow, user: number, userCache: UserCache): boolean {
  const person = userCache.find(user)
  if (person === undefined) return false
  return app.directory_id === null || person.directories.some(({ id }) => id === app.directory_id)
}

/** The same for whoever calls: an API key may do everything. */
export function levelOf(state: Guarded, by: Principal, userCache: UserCache): Access {
  if (by.kind === 'key') return 'admin'
  return accessOf(state, by.user, userCache)
}

/** What somebody with this access may do, as answers say it; null for nothing. */
export function permissionsOf(level: Access): Json | null {
  return permissions[level]
}

export function isAtLeast(level: Access, least: Access): boolean {
  return ranks[level] >= ranks[least]
}

/** True where a user may see an app and what is in it. */
export function canRead(state: Guarded, user: number, userCache: UserCache): boolean {
  const { app } = state
  if (app.trashed_at !== null || app.deleted_at !== null) return false
  return accessOf(state, user, userCache) !== 'none'
}

/** Refuses with 404 what the caller may not see, trashed apps included. */
export function requireRead(state: Guarded, by: Principal, userCache: UserCache): Access {
  const level = levelOf(state, by, userCache)
  if (level === 'none' || state.app.trashed_at !== null || state.app.deleted_at !== null) throw NotFound()
  return level
}

/** 404 for what the caller may not see, 403 for what it may only read. */
export function requireWrite(state: Guarded, by: Principal, userCache: UserCache): Access {
  const level = requireRead(state, by, userCache)
  if (!isAtLeast(level, 'write')) throw Forbidden()
  return level
}

/** For managing the app itself, which works on trashed apps too. */
export function requireAdmin(state: Guarded, by: Principal, userCache: UserCache): void {
  const level = levelOf(state, by, userCache)
  if (level === 'none' || state.app.deleted_at !== null) throw NotFound()
  if (level !== 'admin') throw state.app.trashed_at === null ? Forbidden() : NotFound()
}
