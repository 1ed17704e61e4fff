import { reply } from '../../../http/route.ts'
import { route } from '../../route.ts'
import { Forbidden, NotFound } from '../../../lib/errors.ts'
import { toId } from '../../../api/reference.ts'
import { IdPath } from '../../../api/shape.ts'
import { Range, toPage } from '../../../api/page.ts'
import { changeSubscription } from '../../subscriptions/commands.ts'
import { deleteVersion, restoreVersion } from '../commands.ts'
import { findReadable, requireShown } from '../find.ts'
import { File, Files, IsAttachment, IsCurrentVersion, VersionPath, type FileRow, type VersionRow } from '../schema.ts'
import { showPage, showWhole } from '../show.ts'
import { findVersion, listVersions } from './store.ts'
import { countShown, isShown } from './shown.ts'

const list = route('GET /api/files/{id}/versions', {
  summary: 'List the versions of a file, newest first',
  auth: 'token or key',
  params: IdPath,
  query: Range,
  replies: { 200: Files },
  problems: [NotFound],
  async handle({ params, query }, context) {
    const { file, state } = await requireShown(params.id, context)
    const page = toPage(query, ['id'], 'id')
    const count = countShown(file)
    const take = page.countOnly ? 0 : Math.max(0, Math.min(page.take, count - page.skip))
    const versions = take === 0 ? [] : await listVersions(context.sql, file.id, { skip: page.skip, take })
    const rows = versions.map(version => asOf(file, version))
    return reply(200, await showPage({ rows, count }, page, context, state))
  },
})

const get = route('GET /api/files/{id}/versions/{rev}', {
  summary: 'Get a file as of one of its versions',
  auth: 'token or key',
  params: VersionPath,
  replies: { 200: File },
  problems: [NotFound],
  async handle({ params }, context) {
    const { file, state } = await requireShown(params.id, context)
    const version = await findVersion(context.sql, file.id, toId(params.rev))
    if (version === null || !isShown(file, version)) throw NotFound()
    return reply(200, await showWhole(asOf(file, version), context, state))
  },
})

const restore = route('POST /api/files/{id}/versions/{rev}/restore', {
  summary: 'Make a new version with the content of an old one',
  auth: 'token or key',
  params: VersionPath,
  replies: { 204: null },
  problems: [IsAttachment, Forbidden, NotFound],
  async handle({ params, by }, context) {
    const { file } = await findReadable(params.id, context)
    await context.apps.run(restoreVersion, file.app_id, by, { id: file.id, rev: toId(params.rev) })
    return reply(204)
  },
})

const remove = route('DELETE /api/files/{id}/versions/{rev}', {
  summary: 'Delete an old version of a file',
  auth: 'token or key',
  params: VersionPath,
  replies: { 204: null },
  problems: [IsAttachment, IsCurrentVersion, Forbidden, NotFound],
  async handle({ params, by }, context) {
    const { file } = await findReadable(params.id, context)
    await context.apps.run(deleteVersion, file.app_id, by, { id: file.id, rev: toId(params.rev) })
    return reply(204)
  },
})

const subscription = (verb: 'subscribe' | 'unsubscribe') =>
  route(`POST /api/files/{id}/${verb}`, {
    summary: verb === 'subscribe' ? 'Subscribe to a file' : 'Unsubscribe from a file',
    auth: 'token',
    params: IdPath,
    replies: { 200: File },
    problems: [IsAttachment, NotFound],
    async handle({ params, by }, context) {
      const { file } = await requireShown(params.id, context)
      if (file.parent_id !== null) throw IsAttachment()
      const choice = { type: 'file' as const, id: file.id, isSubscribed: verb === 'subscribe' }
      await context.apps.run(changeSubscription, file.app_id, by, choice)
      return reply(200, await showWhole(file, context))
    },
  })

/** The file in one of its versions. Other members are the current ones. */
function asOf(file: FileRow, { rev, blob, created_at, created_by }: VersionRow): FileRow {
  if (rev === file.rev) return file
  return { ...file, rev, blob, created_at, created_by, updated_at: null, updated_by: null }
}

export const versionRoutes = [list, get, restore, remove, subscription('subscribe'), subscription('unsubscribe')]
