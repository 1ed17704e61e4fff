import { z } from 'zod'
import { reply } from '../../../http/route.ts'
import { route, type Served } from '../../route.ts'
import { Download } from '../../../http/answer/download.ts'
import { NotFound, overloaded } from '../../../lib/errors.ts'
import { systemUser } from '../../../auth/principal.ts'
import type { AppRow } from '../../../engine/state.ts'
import { findApp } from '../../../engine/store.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { Id, LinkQuery } from '../../blobs/content/schema.ts'
import { isSigned, type Signature } from '../../blobs/content/links.ts'
import { ContentMissing } from '../../blobs/schema.ts'
import { findRendition, serveBlob, serveRendition, serveText, toDisposition } from '../../blobs/content/serve.ts'
import { canRead } from '../../apps/members/access.ts'
import { zipFiles } from './archive.ts'
import { previewFormatOf } from '../kinds.ts'
import { readText, showCode, showMarkdown } from './preview.ts'
import type { FileBlob } from '../schema.ts'
import { findFile } from '../store.ts'
import { findVersion } from '../versions/store.ts'

const VersionPath = z.object({ id: Id, rev: Id })

const content = route('GET /content/files/{id}/{rev}', {
  summary: 'The content of a file, by a signed link; d=1 makes it an attachment',
  auth: 'none',
  isDownload: true,
  params: VersionPath,
  query: LinkQuery,
  replies: { 200: null },
  problems: [NotFound, ContentMissing],
  async handle({ params, query }, context) {
    const { name, blob } = await openLink(params, '', query, context)
    return serveBlob(blob, context, { name, isAttachment: query.d === '1' })
  },
})

const preview = route('GET /content/files/{id}/{rev}/preview', {
  summary: 'A file in the form in which it can be looked at, by a signed link; d=1 makes it an attachment',
  auth: 'none',
  isDownload: true,
  params: VersionPath,
  query: LinkQuery,
  replies: { 200: null },
  problems: [NotFound, ContentMissing],
  async handle({ params, query }, context) {
    const { name, blob } = await openLink(params, '/preview', query, context)
    const format = previewFormatOf({ name, key: blob.key, embed: blob.embed })
    const serving = { name, isAttachment: query.d === '1' }
    if (format === 'code') return serveText(await showCode(name, blob, context), 'text/html', serving)
    if (format === 'html') return serveText(await showMarkdown(blob, context), 'text/html', serving)
    if (format === 'text') return serveText(await readText(blob, context), 'text/plain', serving)
    // A rendition of these would lose the animation, or be larger.
    const isAsItIs = format !== 'image' || blob.image === null || ['gif', 'svg'].includes(blob.image)
    if (isAsItIs) return serveBlob(blob, context, serving)
    return (await findRendition(blob, 'preview', context)) ?? serveBlob(blob, context, serving)
  },
})

const thumbnail = route('GET /content/files/{id}/{rev}/thumbnail', {
  summary: 'The thumbnail of a picture, by a signed link',
  auth: 'none',
  isDownload: true,
  params: VersionPath,
  query: LinkQuery,
  replies: { 200: null },
  problems: [NotFound, ContentMissing],
  async handle({ params, query }, context) {
    const { blob } = await openLink(params, '/thumbnail', query, context)
    return serveRendition(blob, 'thumbnail', context)
  },
})

const archive = route('GET /content/apps/{id}/archive', {
  summary: 'A ZIP of the files of a files app, by a signed link that an API key was given',
  auth: 'none',
  isDownload: true,
  params: z.object({ id: Id }),
  query: LinkQuery,
  replies: { 200: null },
  problems: [NotFound],
  async handle({ params, query }, context) {
    return sendArchive(await openArchive(params.id, '', query, context), systemUser, context)
  },
})

const ownArchive = route('GET /content/apps/{id}/archive/{user}', {
  summary: 'A ZIP of the files of a files app, by a signed link that lasts no longer than the access of its user',
  auth: 'none',
  isDownload: true,
  params: z.object({ id: Id, user: Id }),
  query: LinkQuery,
  replies: { 200: null },
  problems: [NotFound],
  async handle({ params, query }, context) {
    const { id, user } = params
    const app = await openArchive(id, `/${user}`, query, context)
    const person = await context.userCache.get(user)
    if (person?.trashed_at !== null || !canRead(await context.apps.state(id), user, context.userCache)) throw NotFound()
    return sendArchive(app, user, context)
  },
})

/**
 * The app that a link names. 404 for a wrong or expired signature, and where the app does not exist or is in the trash.
 */
async function openArchive(
  id: number,
  part: string,
  signature: Signature,
  { sql, now }: Served<'sql' | 'now'>,
): Promise<AppRow> {
  const app = await requireApp(sql, id)
  if (!isSigned(`/apps/${id}/archive${part}`, signature, app.secret, now().getTime())) throw NotFound()
  return app
}

/**
 * The app that a link leads into, as PostgreSQL has it: another node may have trashed it a moment ago. 404 where it is
 * deleted, whose content is removed only later, or in the trash.
 */
async function requireApp(sql: Sql, id: number): Promise<AppRow> {
  const app = await findApp(sql, id)
  if (app === null || app.deleted_at !== null || app.trashed_at !== null) throw NotFound()
  return app
}

function sendArchive(
  { id, name }: AppRow,
  user: number,
  { sql, bytes, archives }: Served<'sql' | 'bytes' | 'archives'>,
) {
  const open = () => {
    if (!archives.tryEnter(user)) throw overloaded(5)
    return zipFiles(sql, id, bytes).once('close', () => archives.leave(user))
  }
  const download = new Download({ sizeBytes: null, etag: null, open })
  return reply(200, download, {
    'Content-Type': 'application/zip',
    'Content-Disposition': toDisposition(`${name ?? 'files'}.zip`, true),
    'Cache-Control': 'private, no-store',
    'X-Content-Type-Options': 'nosniff',
  })
}

/**
 * The file that a link names, in its version. 404 for a wrong or expired signature, where the file does not exist, and
 * while its app is in the trash.
 */
async function openLink(
  { id, rev }: { id: number; rev: number },
  part: '' | '/preview' | '/thumbnail',
  signature: Signature,
  { sql, now }: Served<'sql' | 'now'>,
): Promise<{ name: string; blob: FileBlob }> {
  const file = await findFile(sql, id)
  const version = file?.rev === rev ? file : await findVersion(sql, id, rev)
  if (file === null || version === null) throw NotFound()
  await requireApp(sql, file.app_id)
  const path = `/files/${id}/${rev}${part}`
  if (!isSigned(path, signature, version.blob.secret, now().getTime())) throw NotFound()
  return { name: file.name, blob: version.blob }
}

export const contentRoutes = [content, preview, thumbnail, archive, ownArchive]
