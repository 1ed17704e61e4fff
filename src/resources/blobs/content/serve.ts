import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Download } from '../../../http/answer/download.ts'
import { reply } from '../../../http/route.ts'
import { NotFound } from '../../../lib/errors.ts'
import { withoutDirection } from '../../../lib/name.ts'
import type { Rendition } from '../../../media/image.ts'
import type { Served } from '../../route.ts'
import { ContentMissing, type BlobRow } from '../schema.ts'
import { findBlob } from '../store.ts'

/** The database and the store of bytes. */
export type BlobParts = Served<'sql' | 'bytes'>

/** The columns of a blob that its content needs. */
type ServedBlob = Pick<BlobRow, 'id' | 'key' | 'size' | 'media_type' | 'image' | 'created_by'>

interface Serving {
  /** The file name for saving. */
  name: string
  isAttachment: boolean
}

/** Types in which browsers run nothing, and whose content has been checked, as with pictures. */
const shownInline = /^(?:image\/(?:png|jpeg|gif|webp|bmp|tiff|apng)|(?:audio|video)\/[\w.+-]+|application\/pdf)$/

/** Uploads are data: browsers must not run them, load resources for them, or guess another type. */
const guards = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src 'self'; sandbox",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/** PDF viewers of browsers do not start in a sandbox; scripts of a PDF have no access to the page's origin. */
const pdfGuards = {
  ...guards,
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'",
}

/**
 * Links change with their content, so clients may cache it; shared caches may not, because access depends on the
 * caller.
 */
const keep = 'private, max-age=86400'

/**
 * Serves the content of a blob, whole or in ranges. Text becomes plain text; potentially active types are attachments.
 */
export async function serveBlob(blob: ServedBlob, parts: BlobParts, { name, isAttachment }: Serving) {
  const { key, size } = blob
  if (key === null) throw NotFound()
  const type = shownTypeOf(blob)
  const download = new Download({
    sizeBytes: size,
    etag: `"${blob.id}"`,
    open: async range => (await parts.bytes.open(key, range)) ?? refuseMissing(blob, parts),
  })
  return reply(200, download, {
    'Content-Type': type ?? blob.media_type,
    'Content-Disposition': toDisposition(name, isAttachment || type === null),
    'Cache-Control': keep,
    ...(type === 'application/pdf' ? pdfGuards : guards),
  })
}

/** Serves a rendition of a picture; 404 where it cannot be decoded. */
export async function serveRendition(blob: ServedBlob, rendition: Rendition, parts: RenditionParts) {
  return (await findRendition(blob, rendition, parts)) ?? refuseMissing(blob, parts)
}

/** A rendition of a picture, of a bitmap the picture itself; null where it cannot be decoded. */
export async function findRendition(blob: ServedBlob, rendition: Rendition, parts: RenditionParts) {
  if (blob.image === 'bmp') return serveBlob(blob, parts, { name: `${rendition}.bmp`, isAttachment: false })
  const key = blob.key === null ? null : await parts.renditions.of(blob.key, rendition, blob.created_by)
  const sizeBytes = key === null ? null : await parts.bytes.sizeOf(key)
  if (key === null || sizeBytes === null) return null
  const download = new Download({
    sizeBytes,
    etag: `"${blob.id}-${rendition}"`,
    open: async range => (await parts.bytes.open(key, range)) ?? refuseMissing(blob, parts),
  })
  return reply(200, download, { 'Content-Type': 'image/webp', 'Cache-Control': keep, ...guards })
}

/** Serves text that this server made of a file: plain text, or HTML as a fragment of a page. */
export function serveText(text: string, type: 'text/html' | 'text/plain', { name, isAttachment }: Serving) {
  const content = Buffer.from(text)
  const download = new Download({
    sizeBytes: content.byteLength,
    etag: `"${createHash('sha256').update(content).digest('base64url')}"`,
    open: ({ first, last } = { first: 0, last: content.byteLength - 1 }) =>
      Readable.from([content.subarray(first, last + 1)]),
  })
  return reply(200, download, {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Disposition': toDisposition(name, isAttachment),
    'Cache-Control': keep,
    ...guards,
  })
}

/**
 * Refuses a rendition or preview that could not be made: 404 where the bytes cannot be rendered, or the blob was
 * deleted meanwhile; 500 where the bytes of an existing blob are missing.
 */
export async function refuseMissing(blob: Pick<BlobRow, 'id' | 'key'>, { sql, bytes }: BlobParts): Promise<never> {
  const isFault =
    blob.key !== null && (await bytes.sizeOf(blob.key)) === null && (await findBlob(sql, blob.id)) !== null
  if (!isFault) throw NotFound()
  const fault = ContentMissing()
  fault.cause = new Error(`The bytes of blob ${blob.id} are missing under their key ${blob.key}`)
  throw fault
}

type RenditionParts = Served<'sql' | 'bytes' | 'renditions'>

/** The type for display in browsers; null where the content may only be saved. */
function shownTypeOf({ media_type, image }: ServedBlob): string | null {
  if (/^text\/plain$/.test(media_type)) return 'text/plain; charset=utf-8'
  if (media_type.startsWith('image/') && image === null) return null
  return shownInline.test(media_type) ? media_type : null
}

/** Content-Disposition with both forms of the name (RFC 6266): plain for old clients, percent-encoded for others. */
export function toDisposition(fileName: string, isAttachment: boolean): string {
  const name = withoutDirection(fileName)
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const all = encodeURIComponent(name).replace(/['()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
  return `${isAttachment ? 'attachment' : 'inline'}; filename="${plain}"; filename*=UTF-8''${all}`
}
