import type { UserCache } from '../../../auth/user-cache.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { Access, AppRow, MemberRow } from '../../../engine/state.ts'
import { Forbidden, NotFound } from '../../../lib/errors.ts'
import { Json } from '../../../api/json.ts'

/** The part of an app that access depends on: of a state, or of a draft. */
export interface Guarded {
  readonly app: AppRow
  member(user: number): MemberRow | undefined
}

type Permission = 'list' | 'read' | 'create' | 'update' | 'delete' | 'admin'

const toJson = (...permissions: Permission[]) => new Json(JSON.stringify(permissions))

/** The permissions of access levels in responses. Encoded once, because every app and item is shown with them. */
export const permissionsOf: Record<Access, Json | null> = {
  none: null,
  read: toJson('list', 'read'),
  write: toJson('list', 'read', 'create'),
  admin: toJson('list', 'read', 'create', 'update', 'delete', 'admin'),
}

const ranks: Record<Access, number> = { none: 0, read: 1, write: 2, admin: 3 }

/**
 * A user's access to an app: that of the owner, else of the own membership (even where it gives less than the default),
 * else the app's default, which counts only inside its directory. The user must be in memory.
 */
export function accessOf(state: Guarded, user: number, userCache: UserCache): Access {
  const { app } = state
  if (app.owner_id === user) return 'admin'
  const own = state.member(user)?.access
  if (own) return own
  if (app.access === 'none') return 'none'
  return isInside(app, user, userCache) ? app.access : 'none'
}

/** True where the app has no directory or the user is in it. The user must be in memory. */
export function isInside(app: AppRow, user: number, userCache: UserCache): boolean {
  const person = userCache.find(user)
  if (person === undefined) return false
  return app.directory_id === null || person.directories.some(({ id }) => id === app.directory_id)
}

/** The caller's access to an app; an API key may do everything. */
export function levelOf(state: Guarded, by: Principal, userCache: UserCache): Access {
  if (by.kind === 'key') return 'admin'
  return accessOf(state, by.user, userCache)
}

export function isAtLeast(level: Access, least: Access): boolean {
  return ranks[level] >= ranks[least]
}

/** True where a user may see an app and its content. */
export function canRead(state: Guarded, user: number, userCache: UserCache): boolean {
  const { app } = state
  if (app.trashed_at !== null || app.deleted_at !== null) return false
  return accessOf(state, user, userCache) !== 'none'
}

/** The caller's access; 404 where the caller may not see the app, trashed ones included. */
export function requireRead(state: Guarded, by: Principal, userCache: UserCache): Access {
  const level = levelOf(state, by, userCache)
  if (level === 'none' || state.app.trashed_at !== null || state.app.deleted_at !== null) throw NotFound()
  return level
}

/** The caller's access; 404 where the caller may not see the app, 403 where it may only be read. */
export function requireWrite(state: Guarded, by: Principal, userCache: UserCache): Access {
  const level = requireRead(state, by, userCache)
  if (!isAtLeast(level, 'write')) throw Forbidden()
  return level
}

/** Refuses callers who may not manage the app, which includes trashed apps. */
export function requireAdmin(state: Guarded, by: Principal, userCache: UserCache): void {
  const level = levelOf(state, by, userCache)
  if (level === 'none' || state.app.deleted_at !== null) throw NotFound()
  if (level !== 'admin') throw state.app.trashed_at === null ? Forbidden() : NotFound()
}
