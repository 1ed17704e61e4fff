import { isDeepStrictEqual } from 'node:util'
import { loadingCommand, type Work } from '../../engine/command.ts'
import { auditByKey } from '../../audit/audit.ts'
import { NotFound } from '../../lib/errors.ts'
import type { Db } from '../../postgres/sql.ts'
import { WrongKind } from '../apps/schema.ts'
import { changeTotal, insertDeletedParent } from '../content/commented.ts'
import { countMove, dropBlocks, startBlock } from '../content/lists/positions/blocks.ts'
import { blockSize } from '../../engine/state.ts'
import { requireMeant, type Removal } from '../content/removal/trash.ts'
import { requireRead, requireWrite } from '../apps/members/access.ts'
import { removeStarsOf } from '../stars/store.ts'
import { newFile, toVersion } from './attachments/attachments.ts'
import { fileCreated, fileDeleted, fileUpdated, type FileFacts } from './events.ts'
import {
  IsAttachment,
  IsCurrentVersion,
  NameTaken,
  nameTaken,
  type FileBlob,
  type FileRow,
  type VersionRow,
} from './schema.ts'
import * as store from './store.ts'
import * as versions from './versions/store.ts'
import { isShown } from './versions/shown.ts'

/** For a name that another node takes at this moment. */
const conflicts = { files_name: () => NameTaken() }

interface Draft {
  name: string
  metadata: Record<string, unknown> | null | undefined
  tags: string[] | undefined
  blob: FileBlob
  replace: boolean
}

export interface Saved {
  file: FileRow
  isNew: boolean
}

/**
 * Adds a file to a files app, or with `replace` a version to the file with its name. Refuses with 400 in apps of other
 * types, 403 or 404 where the caller may not write, 409 for a taken name.
 */
export const createFile = loadingCommand(
  'createFile',
  (db: Db, app: number, { name }: Draft) => store.findByName(db, app, name),
  (work, { name, metadata, tags, blob, replace }): Saved => {
    requireWrite(work.state, work.by, work.userCache)
    const { app, loaded: existing } = work
    if (app.type !== 'files') throw WrongKind({ type: app.type })
    if (existing !== null) {
      if (!replace) throw nameTaken(existing.name)
      const described = {
        metadata: metadata === undefined ? existing.metadata : metadata,
        tags: tags ?? existing.tags,
      }
      return { file: save(work, addVersion(work, { ...existing, ...described }, blob), true), isNew: false }
    }
    const file = newFile(work, { id: work.nextId(), name, metadata: metadata ?? null, tags: tags ?? [], blob })
    work.write(store.insertFile, file)
    work.write(versions.insertVersion, toVersion(work, file))
    if (app.made_count % blockSize === 0) startBlock(work, file)
    work.emit(fileCreated, { entity: file.id, body: file })
    return { file, isNew: true }
  },
  { conflicts },
)

interface Change {
  id: number
  name?: string | undefined
  metadata?: Record<string, unknown> | null | undefined
  tags?: string[] | undefined
  blob?: FileBlob | undefined
  /** True where the old content is kept as a version. */
  backup: boolean
}

/** Changes a file's name, description or content. Absent members stay. 409 for a taken name. */
export const updateFile = loadingCommand(
  'updateFile',
  async (db: Db, app: number, { id, name }: Change) => {
    const file = await loadFile(db, app, id)
    const holder = name === undefined ? null : await store.findByName(db, app, name)
    return { file, namesake: holder?.id === id ? null : holder }
  },
  (work, { name, metadata, tags, blob, backup }) => {
    const { file, namesake } = work.loaded
    requireChange(work, file)
    if (file.trashed_at !== null) throw NotFound()
    if (namesake !== null) throw nameTaken(namesake.name)
    const described: FileRow = {
      ...file,
      name: name ?? file.name,
      metadata: metadata === undefined ? file.metadata : metadata,
      tags: tags ?? file.tags,
    }
    if (blob === undefined) return isDeepStrictEqual(described, file) ? file : save(work, described)
    const updated = addVersion(work, described, blob)
    if (backup) return save(work, updated, true)
    work.write(versions.removeVersion, { file_id: file.id, rev: file.rev })
    return save(work, { ...updated, version_count: file.version_count }, true)
  },
  { conflicts },
)

const load = (db: Db, app: number, { id }: { id: number }) => loadFile(db, app, id)

/** Moves a file to the trash, which frees its name. Repeating changes nothing. */
export const trashFile = loadingCommand('trashFile', load, work => {
  requireChange(work, work.loaded)
  if (work.loaded.trashed_at !== null) return
  note(work, work.loaded, 'file_trashed')
  move(work, work.loaded, work.now)
})

/** Restores a file from the trash. 409 where its name is taken by now. */
export const restoreFile = loadingCommand(
  'restoreFile',
  async (db: Db, app: number, { id }: { id: number }) => {
    const file = await loadFile(db, app, id)
    return { file, namesake: await store.findByName(db, app, file.name) }
  },
  work => {
    const { file, namesake } = work.loaded
    requireChange(work, file)
    if (file.trashed_at === null) return
    if (namesake !== null) throw nameTaken(namesake.name)
    note(work, file, 'file_restored')
    move(work, file, null)
  },
  { conflicts },
)

/** Deletes a file with all its versions, in the trash or not. Its comments are removed in the background. */
export const deleteFile = loadingCommand('deleteFile', load, (work, removal: Removal) => {
  const { loaded: file } = work
  requireChange(work, file)
  requireMeant(file, removal)
  note(work, file, 'file_deleted')
  const [visible, trashed] = file.trashed_at === null ? [-1, 0] : [0, -1]
  work.write(store.removeFile, { id: file.id })
  work.write(versions.removeVersionsOf, { id: file.id })
  if (file.star_count > 0) work.write(removeStarsOf, { id: file.id })
  work.write(insertDeletedParent, { parent_id: file.id })
  dropBlocks(work, file)
  countMove(work, file, { trashed, deleted: 1 })
  work.write(changeTotal, { app_id: file.app_id, comments: visible * file.comment_count })
  const facts: FileFacts = { visible, trashed }
  work.emit(fileDeleted, { entity: file.id, body: null, facts })
})

const loadVersion = async (db: Db, app: number, { id, rev }: { id: number; rev: number }) => {
  const file = await loadFile(db, app, id)
  const version = await versions.findVersion(db, id, rev)
  if (version === null || !isShown(file, version)) throw NotFound()
  return { file, version }
}

/** Makes a new version with the content of an old one; does nothing for the current one. */
export const restoreVersion = loadingCommand('restoreVersion', loadVersion, work => {
  const { file, version } = requireVersion(work)
  if (version.rev !== file.rev) save(work, addVersion(work, file, version.blob), true)
})

/** Deletes an old version. 400 for the current one. */
export const deleteVersion = loadingCommand('deleteVersion', loadVersion, work => {
  const { file, version } = requireVersion(work)
  if (version.rev === file.rev) throw IsCurrentVersion()
  work.write(versions.removeVersion, { file_id: file.id, rev: version.rev })
  save(work, { ...file, version_count: file.version_count - 1 })
})

/** Writes down what a key did to a file: by what it is, not what it is called. */
function note(work: Work<unknown>, file: FileRow, action: 'file_trashed' | 'file_restored' | 'file_deleted'): void {
  auditByKey(work, {
    action,
    target: { type: 'file', id: file.id },
    after: { app: file.app_id, author: file.created_by },
  })
}

async function loadFile(db: Db, app: number, id: number): Promise<FileRow> {
  const file = await store.findFile(db, id)
  if (file === null || file.app_id !== app) throw NotFound()
  return file
}

/** Whoever may write may change every file of the app; others do not see what is in the trash. */
function requireChange(work: Work<unknown>, file: FileRow): void {
  const level = requireRead(work.state, work.by, work.userCache)
  if (level === 'read' && file.trashed_at !== null) throw NotFound()
  requireWrite(work.state, work.by, work.userCache)
  if (file.parent_id !== null) throw IsAttachment()
}

function requireVersion(work: Work<{ file: FileRow; version: VersionRow }>) {
  requireChange(work, work.loaded.file)
  if (work.loaded.file.trashed_at !== null) throw NotFound()
  return work.loaded
}

/** The file with new content as its current version, in front of those that it has. */
function addVersion(work: Work<unknown>, file: FileRow, blob: FileBlob): FileRow {
  const updated = { ...file, rev: work.nextId(), version_count: file.version_count + 1, size: blob.size, blob }
  work.write(versions.insertVersion, toVersion(work, updated))
  return updated
}

function save(work: Work<unknown>, file: FileRow, hasNewContent = false): FileRow {
  const updated: FileRow = { ...file, updated_at: work.now, updated_by: work.by.user }
  work.write(store.updateFile, updated)
  const { comment_count: comments } = file
  const facts: FileFacts = { visible: 0, trashed: 0, comments, ...(hasNewContent && { hasNewContent }) }
  work.emit(fileUpdated, { entity: file.id, body: updated, facts })
  return updated
}

/** Into the trash, or out of it. */
function move(work: Work<unknown>, file: FileRow, trashed_at: Date | null): void {
  const trashed = trashed_at === null ? -1 : 1
  const moved: FileRow = { ...file, trashed_at }
  work.write(store.updateFile, moved)
  countMove(work, file, { trashed, deleted: 0 })
  // Comments are hidden and shown with their subject.
  work.write(changeTotal, { app_id: file.app_id, comments: -trashed * file.comment_count })
  const facts: FileFacts = { visible: -trashed, trashed, comments: file.comment_count }
  work.emit(fileUpdated, { entity: file.id, body: moved, facts })
}
