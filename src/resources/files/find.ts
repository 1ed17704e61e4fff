import type { Access } from '../../engine/state.ts'
import { NotFound, requireFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { openApp, type OpenedApp } from '../apps/find.ts'
import { requireShown as requireItem } from '../content/find.ts'
import { kinds } from '../content/kinds.ts'
import { isAtLeast } from '../apps/members/access.ts'
import type { Served } from '../route.ts'
import { IsAttachment, type FileRow } from './schema.ts'
import { findFileWithHead } from './store.ts'

export type Caller = Served<'sql' | 'by' | 'apps' | 'userCache'>

interface Found extends OpenedApp {
  file: FileRow
}

/** The file that `{id}` names, trashed or not, in an app that the caller may read; otherwise 404. */
export async function findReadable(id: string, caller: Caller): Promise<Found> {
  const file = requireFound(await findFileWithHead(caller.sql, toId(id)))
  caller.by.place?.found({ id: file.app_id, rev: file.head_rev, head_rev: file.head_rev })
  const opened = await openApp(file.app_id, 'read', caller)
  // An attachment is hidden with its item.
  if (file.parent_type !== null) await requireItem(kinds[file.parent_type], file.parent_id!, caller, opened)
  return { file, ...opened }
}

/** As `findReadable`, without trashed files. */
export async function requireShown(id: string, caller: Caller): Promise<Found> {
  const found = await findReadable(id, caller)
  if (found.file.trashed_at !== null) throw NotFound()
  return found
}

/** A file that can have comments; attachments cannot. */
export async function findCommented(id: number, caller: Caller): Promise<OpenedApp & { row: FileRow }> {
  const { file, ...opened } = await requireShown(String(id), caller)
  return { row: file, ...opened }
}

/** As `findCommented`, for adding a comment: 400 for attachments. */
export async function requireCommentable(id: number, caller: Caller): ReturnType<typeof findCommented> {
  const found = await findCommented(id, caller)
  if (found.row.parent_id !== null) throw IsAttachment()
  return found
}

/** Trashed files are visible to members who may restore them. */
export function maySeeTrashed(level: Access): boolean {
  return isAtLeast(level, 'write')
}
