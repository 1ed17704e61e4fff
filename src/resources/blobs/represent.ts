import { pixelLimit } from '../../media/image.ts'
import { signLink } from './content/links.ts'
import type { BlobRow } from './schema.ts'

/** Picture formats with a thumbnail. */
const thumbnailed = new Set<string | null>(['png', 'jpeg', 'gif', 'webp', 'bmp', 'tiff'])

export function showBlob(row: Omit<BlobRow, 'created_at'>, origin: string) {
  return {
    id: row.id,
    name: row.name,
    media_type: row.media_type,
    width: row.width,
    height: row.height,
    size: row.size,
    thumbnail_url: hasThumbnail(row) ? signLink(origin, `/blobs/${row.id}/thumbnail`, row.secret) : null,
    raw: row.raw === null ? null : JSON.stringify(row.raw),
  }
}

type Sized = Pick<BlobRow, 'image' | 'width' | 'height'>

export function hasThumbnail(picture: Sized): boolean {
  return thumbnailed.has(picture.image) && isDecoded(picture)
}

/** False for a picture that is too large for renditions. */
export function isDecoded({ width, height }: Sized): boolean {
  return (width ?? 0) * (height ?? 0) <= pixelLimit
}
