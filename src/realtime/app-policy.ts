import type { AppRow, AppState, MemberRow } from '../engine/state.ts'

/** The rules of the API that realtime depends on. src/resources has them. All answer from memory. */
export interface AppPolicy {
  /** True where a user may receive the events of an app. The user is in memory. */
  canRead(state: AppState, user: number): boolean
  /** The rev up to which an app's history is hidden from a user; 0 where none of it is. */
  hiddenUntil(state: AppState, user: number): number
  /** True where an app is in the lists of a user with this relation to it. */
  isListed(app: AppRow, own: MemberRow | undefined): boolean
  isUnread(app: AppRow, user: number, own: MemberRow | undefined): boolean
  /** True for apps that members may remove from their lists until the next message. */
  isRemovable(app: AppRow): boolean
}
