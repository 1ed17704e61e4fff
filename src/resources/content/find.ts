import type { Apps } from '../../engine/apps.ts'
import type { People } from '../../auth/user-cache.ts'
import type { Principal } from '../../auth/principal.ts'
import type { AppState } from '../../engine/state.ts'
import { NotFound } from '../../lib/errors.ts'
import type { Sql } from '../../postgres/sql.ts'
import { levelOf, requireRead } from '../members/access.ts'
import type { ContentKind } from './kind.ts'
import { requireParent } from './parent.ts'
import type { ContentRow } from './schema.ts'

interface Caller {
  sql: Sql
  by: Principal
  apps: Apps
  people: People
}

/** The item with an id, trashed or not, in an app that the caller may read and not hidden with a parent; else 404. */
export async function findReadable(
  { store, parents }: ContentKind,
  id: number,
  { sql, by, apps, people }: Caller,
): Promise<{ row: ContentRow; state: AppState }> {
  const row = await store.find(sql, id)
  if (row === null) throw NotFound()
  const state = await apps.state(row.app_id)
  await people.load([by.user])
  requireRead(state, by, people)
  const hidden = by.kind === 'user' ? (state.member(by.user)?.hidden_id ?? 0) : 0
  if (row.id <= hidden) throw NotFound()
  await requireParent(parents, row, sql)
  return { row, state }
}

/** The same where it is not in the trash. */
export async function requireShown(kind: ContentKind, id: number, caller: Caller): ReturnType<typeof findReadable> {
  const found = await findReadable(kind, id, caller)
  if (found.row.trashed_at !== null) throw NotFound()
  return found
}

/** What is in the trash is shown to its author, to admins and to API keys. */
export function maySeeTrashed(
  row: ContentRow,
  state: AppState,
  { by, people }: Pick<Caller, 'by' | 'people'>,
): boolean {
  return levelOf(state, by, people) === 'admin' || (by.kind === 'user' && row.created_by === by.user)
}
