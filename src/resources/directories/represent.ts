import type { User } from '../../auth/user-cache.ts'
import { toPagedList } from '../../api/page.ts'
import { showUserSummary, type Viewer } from '../users/represent.ts'
import type { DirectoryRow } from './store.ts'

/** The most members within a detailed directory; the others are in its members list. */
export const shownMembers = 25

/** The detailed directory with the first of its members. */
export function showDirectory({ id, name }: DirectoryRow, members: User[], count: number, viewer: Viewer) {
  const items = members.map(person => showUserSummary(person, viewer))
  return { id, name, members: toPagedList({ skip: 0, countOnly: false }, count, items) }
}
