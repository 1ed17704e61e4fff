import type { AppRow, MemberRow } from '../../../engine/state.ts'
import { isChat } from '../kinds.ts'

// Lists apply these rules in SQL: see lists/source.ts.

/** The newest visible message by another author; null if there is none. */
function newestByOthers(app: AppRow, user: number): number | null {
  return app.last_by === user ? app.prior_id : app.last_id
}

/** True where a visible item by another author is newer than the user's read marker. Derived, so it cannot drift. */
export function isUnread(app: AppRow, user: number, own: MemberRow | undefined): boolean {
  if (!isChat(app.type)) return false
  const newest = newestByOthers(app, user)
  return newest !== null && newest > Math.max(own?.marked_id ?? 0, own?.hidden_id ?? 0)
}

/** True for an archived app until another user writes. */
export function isArchived(app: AppRow, user: number, own: MemberRow | undefined): boolean {
  if (own?.archived_id === null || own === undefined) return false
  return (newestByOthers(app, user) ?? 0) <= own.archived_id
}

/** True for an app that the user has removed, until anyone writes. */
export function isHidden(app: AppRow, own: MemberRow | undefined): boolean {
  return own !== undefined && own.is_removed && (app.last_id ?? 0) <= (own.hidden_id ?? 0)
}

/**
 * True where the app is in the lists of a user with this relation to it: a member with access who has not removed it.
 */
export function isListed(app: AppRow, own: MemberRow | undefined): boolean {
  if (app.trashed_at !== null || app.deleted_at !== null) return false
  return own !== undefined && own.access !== null && own.access !== 'none' && !isHidden(app, own)
}

/** The newest visible message, its author, and the newest by any other author. */
export type Newest = Pick<AppRow, 'last_id' | 'last_by' | 'prior_id'>

/** The newest messages after another became visible: a new one, or a restored one. */
export function withMessage(app: Newest, id: number, by: number): Newest {
  if (id > (app.last_id ?? 0)) {
    const isSame = by === app.last_by
    return { last_id: id, last_by: by, prior_id: isSame ? app.prior_id : app.last_id }
  }
  if (by === app.last_by || id <= (app.prior_id ?? 0)) return app
  return { last_id: app.last_id, last_by: app.last_by, prior_id: id }
}
