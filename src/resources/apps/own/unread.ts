import type { AppRow, MemberRow } from '../../../engine/state.ts'
import { isChat } from '../kinds.ts'

// Lists look for these in SQL: pages.ts says the same of rows.

/** The newest visible message that somebody else than `user` wrote; null if there is none. */
function newestByOthers(app: AppRow, user: number): number | null {
  return app.last_by === user ? app.prior_id : app.last_id
}

/** Something visible by somebody else is newer than the user's read marker. Derived, so that it cannot drift. */
export function isUnread(app: AppRow, user: number, own: MemberRow | undefined): boolean {
  if (!isChat(app.type)) return false
  const newest = newestByOthers(app, user)
  return newest !== null && newest > Math.max(own?.marked_id ?? 0, own?.hidden_id ?? 0)
}

/** Archived until somebody else writes something newer. */
export function isArchived(app: AppRow, user: number, own: MemberRow | undefined): boolean {
  if (own?.archived_id === null || own === undefined) return false
  return (newestByOthers(app, user) ?? 0) <= own.archived_id
}

/** Removed from the user's lists until something newer is written by anybody. */
export function isHidden(app: AppRow, own: MemberRow | undefined): boolean {
  return own !== undefined && own.is_removed && (app.last_id ?? 0) <= (own.hidden_id ?? 0)
}

/** In the lists of somebody with this relation to the app: a member who may see it and has not removed it. */
export function isListed(app: AppRow, own: MemberRow | undefined): boolean {
  if (app.trashed_at !== null || app.deleted_at !== null) return false
  return own !== undefined && own.access !== null && own.access !== 'none' && !isHidden(app, own)
}

/** The newest visible message, its author, and the newest by anybody else. */
export type Newest = Pick<AppRow, 'last_id' | 'last_by' | 'prior_id'>

/** The newest messages after one more became visible: a new one, or an old one restored. */
export function withMessage(app: Newest, id: number, by: number): Newest {
  if (id > (app.last_id ?? 0)) {
    const isSame = by === app.last_by
    return { last_id: id, last_by: by, prior_id: isSame ? app.prior_id : app.last_id }
  }
  if (by === app.last_by || id <= (app.prior_id ?? 0)) return app
  return { last_id: app.last_id, last_by: app.last_by, prior_id: id }
}
