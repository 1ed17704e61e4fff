import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { Forbidden, NotFound } from '../../lib/errors.ts'
import { toPage } from '../../api/page.ts'
import { toId } from '../../api/reference.ts'
import { IdPath } from '../../api/shape.ts'
import { openApp, toAppId, toAppIds } from '../apps/find.ts'
import { AppPath, WrongKind } from '../apps/schema.ts'
import { gatherReach } from '../apps/members/readable.ts'
import { hasContent } from '../apps/store.ts'
import { prepareBlobs } from '../blobs/find.ts'
import { isAtLeast } from '../apps/members/access.ts'
import { toAuthor } from '../content/author.ts'
import { changeFileCounts } from '../content/file-parent.ts'
import { requireShown as requireItem } from '../content/find.ts'
import type { ContentKind } from '../content/kind.ts'
import { kinds } from '../content/kinds.ts'
import { loadItemTarget, type LoadTarget } from '../stars/commands.ts'
import { starring } from '../stars/starring.ts'
import { createFile, deleteFile, restoreFile, trashFile, updateFile } from './commands.ts'
import { findReadable, maySeeTrashed, requireShown, type Caller } from './find.ts'
import {
  AllFilesListing,
  File,
  FileListing,
  FileQuery,
  Files,
  FileUpdate,
  IsAttachment,
  NameTaken,
  NewFile,
  type FileBlob,
} from './schema.ts'
import { showPage, showWhole } from './show.ts'
import { listFiles } from './pages.ts'
import { findFile, orderFields, type FileScope } from './store.ts'

const create = route('POST /api/apps/{app}/files', {
  summary: 'Add a blob as a file to a files app',
  description: 'Upload the bytes as a blob first. Where the folder has a file of that name, the answer is 409.',
  auth: 'token or key',
  params: AppPath,
  body: NewFile,
  creates: true,
  replies: { 200: File, 201: File },
  problems: [WrongKind, Forbidden, NotFound, NameTaken],
  async handle({ params, body, by, idempotencyKey }, context) {
    const app = await toAppId(params.app, context)
    const blob = await toBlob(body.blob_id, context)
    const { metadata, tags, replace } = body
    const draft = { name: body.name ?? blob.name, metadata, tags: tags ?? undefined, blob, replace: replace === true }
    const { file, isNew } = await context.apps.run(createFile, app, by, draft, idempotencyKey)
    // The caller of a repeated request may have lost access since the first one.
    const { state } = await openApp(app, 'read', context)
    const shown = await showWhole(file, context, state)
    return isNew ? reply(201, shown) : reply(200, shown)
  },
})

const get = route('GET /api/files/{id}', {
  summary: 'Get a file',
  auth: 'token or key',
  params: IdPath,
  query: FileQuery,
  replies: { 200: File },
  problems: [NotFound],
  async handle({ params, query }, context) {
    const { file, state, level } = await findReadable(params.id, context)
    if (file.trashed_at !== null && !(query.trashed && maySeeTrashed(level))) throw NotFound()
    return reply(200, await showWhole(file, context, state))
  },
})

const update = route('PATCH /api/files/{id}', {
  summary: 'Rename a file, describe it anew, or give it new content',
  auth: 'token or key',
  params: IdPath,
  body: FileUpdate,
  replies: { 200: File },
  problems: [IsAttachment, Forbidden, NotFound, NameTaken],
  async handle({ params, body, by }, context) {
    const { file } = await requireShown(params.id, context)
    const change = {
      id: file.id,
      name: body.name,
      metadata: body.metadata,
      tags: body.tags === null ? [] : body.tags,
      blob: body.blob_id === undefined ? undefined : await toBlob(body.blob_id, context),
      backup: body.backup === true,
    }
    return reply(200, await showWhole(await context.apps.run(updateFile, file.app_id, by, change), context))
  },
})

const listOfApp = route('GET /api/apps/{app}/files', {
  summary: 'List the files of an app',
  auth: 'token or key',
  params: AppPath,
  query: FileListing,
  replies: { 200: Files },
  problems: [NotFound],
  async handle({ params, query }, context) {
    const { state, level } = await openApp(params.app, 'read', context)
    const page = toPage(query, orderFields, 'id', 'along')
    const ids = [state.app.id]
    const writable = isAtLeast(level, 'write') ? ids : []
    const scope = { apps: ids, writable, ...(await toAuthor(query, context.sql)) }
    return reply(200, await showPage(await listFiles(context.sql, scope, page), page, context, state))
  },
})

const list = route('GET /api/files', {
  summary: 'List the files of all apps that the caller may read',
  auth: 'token or key',
  isHeavy: true,
  query: AllFilesListing,
  replies: { 200: Files },
  problems: [NotFound],
  async handle({ query }, context) {
    const page = toPage(query, orderFields, 'id', 'along')
    const scope = { ...(await toScope(context)), ...(await toAuthor(query, context.sql)) }
    if (query.app !== undefined) {
      const wanted = await toAppIds(query.app, context)
      scope.apps = wanted.filter(id => scope.apps === null || scope.apps.includes(id))
    }
    return reply(200, await showPage(await listFiles(context.sql, scope, page), page, context))
  },
})

const change = (verb: 'trash' | 'restore') =>
  route(`POST /api/files/{id}/${verb}`, {
    summary: verb === 'trash' ? 'Move a file to the trash' : 'Take a file out of the trash',
    auth: 'token or key',
    params: IdPath,
    replies: { 204: null },
    problems: [IsAttachment, Forbidden, NotFound, NameTaken],
    async handle({ params, by }, context) {
      const { file } = await findReadable(params.id, context)
      if (verb === 'trash') await context.apps.run(trashFile, file.app_id, by, { id: file.id })
      else await context.apps.run(restoreFile, file.app_id, by, { id: file.id })
      return reply(204)
    },
  })

const remove = route('DELETE /api/files/{id}', {
  summary: 'Delete a file for good, with all its versions',
  auth: 'token or key',
  params: IdPath,
  replies: { 204: null },
  problems: [IsAttachment, Forbidden, NotFound],
  async handle({ params, by }, context) {
    const { file } = await findReadable(params.id, context)
    await context.apps.run(deleteFile, file.app_id, by, { id: file.id })
    return reply(204)
  },
})

const attachmentsOf = (kind: ContentKind) =>
  route(`GET /api/${kind.entity}s/{id}/attachments`, {
    summary: `List the files attached to a ${kind.entity}`,
    auth: 'token or key',
    params: IdPath,
    query: FileListing,
    replies: { 200: Files },
    problems: [NotFound],
    async handle({ params, query }, context) {
      const page = toPage(query, orderFields, 'id', 'along')
      const { row, state } = await requireItem(kind, toId(params.id), context)
      const scope = { apps: null, writable: null, parent: row.id, ...(await toAuthor(query, context.sql)) }
      return reply(200, await showPage(await listFiles(context.sql, scope, page), page, context, state))
    },
  })

const loadStarred: LoadTarget = async (db, app, id) => {
  const file = await findFile(db, id)
  if (file === null || file.app_id !== app || file.trashed_at !== null) throw NotFound()
  // An attachment is hidden with its item.
  if (file.parent_type !== null) await loadItemTarget(kinds[file.parent_type])(db, app, file.parent_id!)
  return { ...file, changeCounts: changeFileCounts }
}

async function toBlob(id: number, caller: Caller & { now: () => Date }): Promise<FileBlob> {
  const [blob] = await prepareBlobs([id], caller, 'blob_id')
  const { created_at: _, ...shown } = blob!
  return shown
}

async function toScope({ by, userCache, sql }: Caller): Promise<FileScope> {
  if (by.kind === 'key') return { apps: null, writable: null }
  const directories = await userCache.directoriesOf(by.user)
  const { apps, readOnly } = await gatherReach(sql, {
    user: by.user,
    directories,
    which: sql`a.type = 'files' and ${hasContent(sql)}`,
    counted: sql`false`,
    lively: 0,
  })
  const unwritable = new Set(readOnly)
  return { apps, writable: apps.filter(id => !unwritable.has(id)) }
}

export const routes = [
  ...[list, create, get, update, remove, change('trash'), change('restore'), listOfApp],
  ...Object.values(kinds).map(attachmentsOf),
  // POST and DELETE /api/files/{id}/stars
  ...starring({
    type: 'file',
    find: async (id, request) => (await requireShown(String(id), request)).file,
    load: loadStarred,
  }),
]
