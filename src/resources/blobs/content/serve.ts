import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Download } from '../../../http/answer/download.ts'
import { reply } from '../../../http/route.ts'
import { NotFound } from '../../../lib/errors.ts'
import type { Rendition } from '../../../media/image.ts'
import type { Renditions } from '../../../media/renditions.ts'
import { refuseMissing, type BlobParts } from './missing.ts'
import type { BlobRow } from '../schema.ts'

/** A blob as far as its content goes. */
type Served = Pick<BlobRow, 'id' | 'key' | 'size' | 'media_type' | 'image' | 'created_by'>

interface Serving {
  /** As the client is to call it when it saves it. */
  name: string
  isAttachment: boolean
}

/** Types that no browser runs anything of, and that are what they say: pictures were looked into. */
const shownInline = /^(?:image\/(?:png|jpeg|gif|webp|bmp|tiff|apng)|(?:audio|video)\/[\w.+-]+|application\/pdf)$/

/** What was uploaded is data: nothing of it may run, load, or be taken for another type. */
const guards = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src 'self'; sandbox",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/** PDF viewers of browsers do not start in a sandbox; scripts of a PDF never reach the page's origin. */
const pdfGuards = {
  ...guards,
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'",
}

/** Links change with what they lead to, so that it may be kept; not by caches between, which do not know who asks. */
const keep = 'private, max-age=86400'

/** The content of a blob, whole or in ranges. Text comes as plain text; what could be active, only as an attachment. */
export async function serveBlob(blob: Served, parts: BlobParts, { name, isAttachment }: Serving) {
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

/** A smaller version of a picture; 404 where it cannot be decoded. */
export async function serveRendition(blob: Served, rendition: Rendition, parts: RenditionParts) {
  return (await findRendition(blob, rendition, parts)) ?? refuseMissing(blob, parts)
}

/** A smaller version of a picture; null where it cannot be decoded. */
export async function findRendition(blob: Served, rendition: Rendition, parts: RenditionParts) {
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

/** What this server has made of a file: plain text, or HTML as a fragment to be put into a page. */
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

interface RenditionParts extends BlobParts {
  renditions: Renditions
}

/** The type under which a browser may show the content; null where it may only save it. */
function shownTypeOf({ media_type, image }: Served): string | null {
  if (/^text\/plain$/.test(media_type)) return 'text/plain; charset=utf-8'
  if (media_type.startsWith('image/') && image === null) return null
  return shownInline.test(media_type) ? media_type : null
}

/** Both forms of the name: the plain one for old clients, and all of it, percent-encoded, for the others. */
export function toDisposition(name: string, isAttachment: boolean): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const all = encodeURIComponent(name).replace(/['()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
  return `${isAttachment ? 'attachment' : 'inline'}; filename="${plain}"; filename*=UTF-8''${all}`
}
