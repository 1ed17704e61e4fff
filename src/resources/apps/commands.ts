import { isDeepStrictEqual } from 'node:util'
import { command, type Work } from '../../actors/command.ts'
import type { AppRow } from '../../actors/state.ts'
import { Forbidden, invalid, NotFound, type Problem } from '../../lib/errors.ts'
import { isAtLeast, requireAdmin, requireRead } from '../members/access.ts'
import { appDeleted, appRestored, appTrashed, appUpdated } from './events.ts'
import { isConversation } from './kinds.ts'
import type { AppUpdate } from './schema.ts'

/** An update whose references were looked up: the directory as its id. */
export interface AppChange extends Omit<AppUpdate, 'directory' | 'picture'> {
  directory_id?: number | null
}

const UidTaken = () => invalid({ uid: ['is taken by another app'] })
const DirectoryGone = () => invalid({ directory: ['was deleted meanwhile'] })

/** What the database refuses an app for, by constraint: others write at the same time. */
export const conflicts: Record<string, () => Problem> = {
  apps_uid: UidTaken,
  apps_agent_chat_uid: UidTaken,
  apps_directory_id_fkey: DirectoryGone,
}

/**
 * Changes an app; absent members stay, null clears. Admins may change everything; whoever may write may name a chat
 * room, and give a chat its first name. What changes nothing leaves no trace. Refuses with 403, 404, and 422 for a
 * taken uid or access and directory where the type fixes them.
 */
export const updateApp = command(
  'updateApp',
  (work: Work, change: AppChange) => {
    const level = requireRead(work.state, work.by, work.people)
    if (level !== 'admin' && !(isAtLeast(level, 'write') && mayName(work.app, change))) throw Forbidden()
    applyChange(work, change)
  },
  { conflicts },
)

/** The same for an upsert: what the caller may not change is ignored. Trashed apps are updated too, and stay trashed. */
export const upsertApp = command(
  'upsertApp',
  (work: Work, change: AppChange) => {
    try {
      requireAdmin(work.state, work.by, work.people)
    } catch (refusal) {
      // Whoever may not change the app gets it as it is; that it may be seen at all was settled before.
      if (work.app.deleted_at !== null) throw refusal
      return
    }
    applyChange(work, change)
  },
  { conflicts },
)

/** Hides an app and all that is in it. Needs admin; repeating changes nothing. */
export const trashApp = command('trashApp', (work: Work) => {
  requireAdmin(work.state, work.by, work.people)
  if (work.app.trashed_at !== null) return
  work.emit(appTrashed, { entity: work.app.id, body: { ...work.app, trashed_at: work.now } })
})

export const restoreApp = command('restoreApp', (work: Work) => {
  requireAdmin(work.state, work.by, work.people)
  if (work.app.trashed_at === null) return
  work.emit(appRestored, { entity: work.app.id, body: { ...work.app, trashed_at: null } })
})

/** Ends an app for good. Its rows are removed in the background; nobody sees them from now on. */
export const deleteApp = command('deleteApp', (work: Work) => {
  requireAdmin(work.state, work.by, work.people)
  work.emit(appDeleted, { entity: work.app.id, body: { ...work.app, deleted_at: work.now } })
})

/** For a directory that is about to be deleted: the app must not become more open by it. */
export const clearDirectory = command('clearDirectory', (work: Work, directory: number) => {
  if (work.app.deleted_at !== null) throw NotFound()
  if (work.app.directory_id !== directory) return
  work.emit(appUpdated, { entity: work.app.id, body: { ...work.app, directory_id: null, access: 'none' } })
})

function mayName(app: AppRow, change: AppChange): boolean {
  const keys = Object.entries(change).flatMap(([key, value]) => (value === undefined ? [] : [key]))
  if (keys.some(key => key !== 'name')) return false
  return app.type === 'chat_room' || ((app.type === 'agent_chat' || app.type === 'chat') && app.name === null)
}

function applyChange(work: Work, change: AppChange): void {
  const { app } = work
  requireFit(app.type, change)
  const changed: AppRow = {
    ...app,
    uid: change.uid === undefined ? app.uid : change.uid,
    name: change.name === undefined ? app.name : change.name || null,
    description: change.description === undefined ? app.description : change.description,
    metadata: change.metadata === undefined ? app.metadata : change.metadata,
    tags: change.tags === undefined ? app.tags : (change.tags ?? []),
    access: change.access === undefined ? app.access : (change.access ?? 'none'),
    directory_id: change.directory_id === undefined ? app.directory_id : change.directory_id,
  }
  if (isSame(app, changed)) return
  const body = { ...changed, updated_at: work.now, updated_by: work.by.user }
  work.emit(appUpdated, { entity: app.id, body })
}

/** 422 where a conversation would be opened to others than its members. */
export function requireFit(type: string, change: Pick<AppChange, 'access' | 'directory_id'>): void {
  if (!isConversation(type)) return
  if (change.access && change.access !== 'none') throw invalid({ access: ['must be none for this type of app'] })
  if (change.directory_id != null) throw invalid({ directory: ['cannot be set for this type of app'] })
}

/** PostgreSQL keeps the members of metadata in an order of its own, so their order does not count. */
function isSame(app: AppRow, changed: AppRow): boolean {
  return isDeepStrictEqual(app, changed)
}
