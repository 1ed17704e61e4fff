import type { PresentationContext } from '../../engine/event.ts'
import { verbatim } from '../../api/json.ts'
import { showAppRef } from '../apps/represent.ts'
import { signLink } from '../blobs/content/links.ts'
import { hasThumbnail } from '../blobs/represent.ts'
import { summaryOf } from '../users/represent.ts'
import type { Served } from '../route.ts'
import { kindOf, previewFormatOf } from './kinds.ts'
import type { FileRow } from './schema.ts'

/** The user cache and the origin of URLs. */
export type FileViewer = Served<'userCache' | 'origin'>

/** The caller's stars and subscriptions of files. */
export interface OwnMarks {
  starred: ReadonlySet<number>
  subscribed: ReadonlySet<number>
}

export const noMarks: OwnMarks = { starred: new Set(), subscribed: new Set() }

/** The members that summaries leave out. */
export function showRaw({ blob }: FileRow) {
  return { raw: blob.raw === null ? null : JSON.stringify(blob.raw) }
}

/** The summary of a file for one caller, without its app. The users it names must be in memory. */
export function showFile(row: FileRow, viewer: FileViewer, { starred, subscribed }: OwnMarks = noMarks) {
  return { ...showCommon(row, viewer), is_subscribed: subscribed.has(row.id), is_starred: starred.has(row.id) }
}

/** The summary of a file in events, equal for all readers. */
export function presentFile(row: FileRow, { app, userCache, origin }: PresentationContext) {
  return { ...showCommon(row, { userCache, origin }), app: showAppRef(app, origin) }
}

/** A file that an answer cites, for readers who may not have access to its app. */
export function showCitedFile(row: FileRow, viewer: FileViewer) {
  return { ...showCommon(row, viewer), ...noLinks, is_subscribed: false, is_starred: false }
}

/**
 * A cited file in events, equal for all readers: those with access load it by its id. Its comments are counted in the
 * history of its own app, where this event has no place.
 */
export function presentCitedFile(row: FileRow, { userCache, origin }: PresentationContext) {
  return { ...showCommon(row, { userCache, origin }), ...noLinks, comments: null, app: { id: row.app_id } }
}

const noLinks = { download_url: null, preview_url: null, thumbnail_url: null, external_url: null, embed_url: null }

function showCommon(row: FileRow, { userCache, origin }: FileViewer) {
  const { blob } = row
  return {
    id: row.id,
    rev: row.rev,
    parent: row.parent_id === null ? null : { id: row.parent_id, type: row.parent_type },
    name: row.name,
    kind: kindOf(row.name),
    media_type: blob.media_type,
    width: blob.width,
    height: blob.height,
    size: blob.size,
    metadata: verbatim(row.metadata),
    tags: row.tags,
    provider: blob.provider,
    embed_url: blob.embed,
    external_url: blob.link,
    ...showLinks(row, origin),
    comments: row.parent_id === null ? { count: row.comment_count } : null,
    is_trashed: row.trashed_at !== null,
    created_at: row.created_at,
    created_by: summaryOf(userCache.show(row.created_by), origin),
    updated_at: row.updated_at,
    updated_by: row.updated_by === null ? null : summaryOf(userCache.show(row.updated_by), origin),
  }
}

function showLinks({ id, rev, name, blob }: FileRow, origin: string) {
  const preview_format = previewFormatOf({ name, key: blob.key, embed: blob.embed })
  if (blob.key === null) return { preview_format, preview_url: blob.embed, download_url: blob.download }
  const path = `/files/${id}/${rev}`
  return {
    preview_format,
    preview_url: preview_format === 'none' ? null : signLink(origin, `${path}/preview`, blob.secret),
    download_url: signLink(origin, path, blob.secret),
    thumbnail_url: hasThumbnail(blob) ? signLink(origin, `${path}/thumbnail`, blob.secret) : null,
  }
}
