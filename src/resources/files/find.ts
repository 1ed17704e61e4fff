import type { Apps } from '../../engine/apps.ts'
import type { UserCache } from '../../auth/user-cache.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Access } from '../../engine/state.ts'
import { NotFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import type { Sql } from '../../postgres/sql.ts'
import { openApp, type OpenedApp } from '../apps/find.ts'
import { requireShown as requireItem } from '../content/find.ts'
import { kinds } from '../content/kinds.ts'
import { isAtLeast } from '../apps/members/access.ts'
import { IsAttachment, type FileRow } from './schema.ts'
import { findFile } from './store.ts'

export interface Caller {
  sql: Sql
  by: Principal
  apps: Apps
  userCache: UserCache
}

interface Found extends OpenedApp {
  file: FileRow
}

/** The file behind `{id}`, trashed or not, in an app that the caller may read; 404 otherwise. */
export async function findReadable(id: string, caller: Caller): Promise<Found> {
  const file = await findFile(caller.sql, toId(id))
  if (file === null) throw NotFound()
  const opened = await openApp(file.app_id, 'read', caller)
  // Attachments are hidden with what they are attached to.
  if (file.parent_type !== null) await requireItem(kinds[file.parent_type], file.parent_id!, caller, opened)
  return { file, ...opened }
}

/** The same without the trash. */
export async function requireShown(id: string, caller: Caller): Promise<Found> {
  const found = await findReadable(id, caller)
  if (found.file.trashed_at !== null) throw NotFound()
  return found
}

/** A file as what comments are about; attachments have none. */
export async function findCommented(id: number, caller: Caller): Promise<OpenedApp & { row: FileRow }> {
  const { file, ...opened } = await requireShown(String(id), caller)
  return { row: file, ...opened }
}

/** The same to comment on it: 400 for attachments. */
export async function requireCommentable(id: number, caller: Caller): ReturnType<typeof findCommented> {
  const found = await findCommented(id, caller)
  if (found.row.parent_id !== null) throw IsAttachment()
  return found
}

/** What is in the trash is shown to those who may take it out. */
export function maySeeTrashed(level: Access): boolean {
  return isAtLeast(level, 'write')
}
