import { isDeepStrictEqual } from 'node:util'
import { command, loadingCommand, type Work } from '../../engine/command.ts'
import type { Access, AppRow } from '../../engine/state.ts'
import { audit, auditByKey, differences } from '../../audit/audit.ts'
import { Forbidden, invalid, NotFound, type Problem } from '../../lib/errors.ts'
import type { Db } from '../../postgres/sql.ts'
import { isAtLeast, isInside, levelOf, requireAdmin, requireRead } from './members/access.ts'
import { join, joinNumbers } from './members/join.ts'
import { appDeleted, appRestored, appTrashed, appUpdated } from './events.ts'
import { hasFixedMembers, isChat, isConversation, type Kind } from './kinds.ts'
import { PairHasChat, type AppUpdate } from './schema.ts'
import { findPair, findPairOf } from './store.ts'

/** An update with resolved references. */
export interface AppChange extends Omit<AppUpdate, 'directory' | 'picture'> {
  /** The id of a blob. */
  picture?: number | null
  /** `isKnown`: false where the directory does not exist, or the caller cannot see it. */
  directory?: { id: number; isKnown: boolean } | null
}

export const UidTaken = () => invalid({ uid: ['is taken by another app'] })
export const UnknownDirectory = () => invalid({ directory: ['there is no such directory'] })
/**
 * One refusal for members who do not exist and members whom the caller cannot see: it names only the caller's own
 * references.
 */
export const UnknownPeople = (field: string, refs: string[]) =>
  invalid({ [field]: refs.map(ref => `there is no user ${ref}`) })
const OtherMembers = () => invalid({ members: ['are others in the chat that has this uid'] })
const DirectoryGone = () => invalid({ directory: ['was deleted meanwhile'] })

/** The refusals for constraints of the database that a concurrent write can violate. */
export const conflicts: Record<string, () => Problem> = {
  apps_uid: UidTaken,
  apps_agent_chat_uid: UidTaken,
  apps_directory_id_fkey: DirectoryGone,
}

/**
 * Changes an app; absent members stay, null clears. Admins may change everything; members with write access may name a
 * chat room, and some other chats (see `mayName`). An update without a change writes nothing. Refuses with 403, 404,
 * and 422 for a taken uid, or for an access or directory that the type fixes.
 */
export const updateApp = command(
  'updateApp',
  (work: Work, change: AppChange) => {
    const level = requireRead(work.state, work.by, work.userCache)
    if (level !== 'admin' && !(isAtLeast(level, 'write') && mayName(work.app, change))) throw Forbidden()
    applyChange(work, change)
  },
  { conflicts },
)

export interface AppUpsertion {
  type: Kind
  /** The ids of the members named in the request; 0 for a user who does not exist. */
  members: number[]
  change: AppChange
  /** True where an upsert lets its caller join an app made by upsert. */
  upsertsJoin: boolean
}

/**
 * Updates an app by upsert, which may let the caller join (see `letIn`), and ignores changes that the caller may not
 * make. Trashed apps are updated too, and stay trashed. Refuses with 403 where the caller may not see the app; with 422
 * for an app of another type, or a private or agent chat with other members than the named ones.
 */
export const upsertApp = command(
  'upsertApp',
  (work: Work, { type, members, change, upsertsJoin }: AppUpsertion) => {
    if (work.app.deleted_at !== null) throw NotFound()
    if (work.app.type !== type) throw invalid({ type: ['an app of another type has this uid'] })
    const before = levelOf(work.state, work.by, work.userCache)
    const level = work.by.kind === 'user' ? letIn(work, before, upsertsJoin) : before
    if (hasFixedMembers(type) && members.some(user => work.state.member(user)?.access == null)) throw OtherMembers()
    const { name } = change
    if (level === 'admin') applyChange(work, change)
    else if (work.app.name === null && level === 'write' && mayName(work.app, { name })) applyChange(work, { name })
  },
  { maxIds: () => joinNumbers + 1, conflicts },
)

/** Moves an app and its content to the trash. Needs admin; repeating changes nothing. */
export const trashApp = command('trashApp', (work: Work) => {
  requireAdmin(work.state, work.by, work.userCache)
  if (work.app.trashed_at !== null) return
  audit(work, { action: 'app_trashed', target: toTarget(work.app) })
  work.emit(appTrashed, { entity: work.app.id, body: { ...work.app, trashed_at: work.now } })
})

/** Restores an app from the trash. 400 for a private chat whose two members have a new one. */
export const restoreApp = loadingCommand(
  'restoreApp',
  async (db: Db, app: number): Promise<number | null> => {
    const pair = await findPairOf(db, app)
    return pair === null ? null : findPair(db, pair)
  },
  (work: Work<number | null>) => {
    requireAdmin(work.state, work.by, work.userCache)
    if (work.app.trashed_at === null) return
    if (work.loaded !== null) throw PairHasChat()
    audit(work, { action: 'app_restored', target: toTarget(work.app) })
    work.emit(appRestored, { entity: work.app.id, body: { ...work.app, trashed_at: null } })
  },
)

/** Deletes an app for good. It is invisible from now on; its rows are removed in the background. */
export const deleteApp = command('deleteApp', (work: Work) => {
  requireAdmin(work.state, work.by, work.userCache)
  auditByKey(work, { action: 'app_deleted', target: toTarget(work.app) })
  work.emit(appDeleted, { entity: work.app.id, body: { ...work.app, deleted_at: work.now } })
})

/** Removes a reference to a directory that is about to be deleted; the app must not become more open by that. */
export const clearDirectory = command('clearDirectory', (work: Work, directory: number) => {
  if (work.app.deleted_at !== null) throw NotFound()
  if (work.app.directory_id !== directory) return
  work.emit(appUpdated, { entity: work.app.id, body: { ...work.app, directory_id: null, access: 'none' } })
})

/**
 * Makes the caller of an upsert a member, where the app was made by upsert and the caller is inside its directory, or
 * where it is a chat that the caller may see anyway. Returns the caller's access. 403 where the caller is not let in,
 * also for trashed apps.
 */
function letIn(work: Work, level: Access, upsertsJoin: boolean): Access {
  const { app, state, by, userCache } = work
  if (level === 'admin') return level
  if (app.trashed_at !== null) throw Forbidden()
  const isMember = state.member(by.user)?.access != null
  const mayJoin = upsertsJoin && !isMember && app.is_joinable && isInside(app, by.user, userCache)
  if (level === 'none' && !mayJoin) throw Forbidden()
  if (mayJoin) join(work, by.user, 'write')
  else if (!isMember && isChat(app.type)) join(work, by.user, level)
  return mayJoin ? 'write' : level
}

/**
 * What write access allows to change: the name of a chat that has none, or that belongs to all because its first
 * visitor made it. Existing clients name such a chat after its newest message, and repeat that until they read the app
 * again: an update without a change is not refused. In a chat room, the picture too.
 */
function mayName(app: AppRow, change: AppChange): boolean {
  const keys = Object.entries(change).flatMap(([key, value]) => (value === undefined ? [] : [key]))
  const isRoom = app.type === 'chat_room'
  if (keys.some(key => key !== 'name' && !(isRoom && key === 'picture'))) return false
  if (app.type !== 'agent_chat' && app.type !== 'chat') return isRoom
  return app.name === null || app.is_joinable || app.name === change.name
}

function applyChange(work: Work, change: AppChange): void {
  const { app } = work
  const { directory } = change
  // An admin may leave the app in a directory that only others can see.
  if (directory?.isKnown === false && directory.id !== app.directory_id) throw UnknownDirectory()
  requireFit(app.type, change.access, directory?.id)
  const changed: AppRow = {
    ...app,
    uid: change.uid === undefined ? app.uid : change.uid,
    name: change.name === undefined ? app.name : change.name,
    description: change.description === undefined ? app.description : change.description,
    metadata: change.metadata === undefined ? app.metadata : change.metadata,
    tags: change.tags === undefined ? app.tags : (change.tags ?? []),
    access: change.access === undefined ? app.access : (change.access ?? 'none'),
    directory_id: directory === undefined ? app.directory_id : (directory?.id ?? null),
    picture_id: change.picture === undefined ? app.picture_id : change.picture,
  }
  // PostgreSQL orders the members of metadata itself, so their order does not count.
  if (isDeepStrictEqual(app, changed)) return
  const body = { ...changed, updated_at: work.now, updated_by: work.by.user }
  const told = differences(app, changed, ['uid', 'access', 'directory_id'])
  if (told !== null) audit(work, { action: 'app_updated', target: toTarget(app), ...told })
  work.emit(appUpdated, { entity: app.id, body })
}

/** An app as a target in the audit log. */
function toTarget({ id, uid }: AppRow) {
  return { type: 'app', id, name: uid }
}

/** 422 where a conversation would be opened to others than its members. */
export function requireFit(type: string, access?: Access | null, directory?: number | null): void {
  if (!isConversation(type)) return
  if (access && access !== 'none') throw invalid({ access: ['must be none for this type of app'] })
  // The UI kit names the directory of an agent chat: it classifies its notifications, and lets no one in.
  if (directory != null && type !== 'agent_chat') throw invalid({ directory: ['cannot be set for this type of app'] })
}
