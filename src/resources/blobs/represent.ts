import { signLink } from './links.ts'
import type { BlobRow } from './schema.ts'

/** Pictures of which there are thumbnails. */
const thumbnailed = new Set<string | null>(['png', 'jpeg', 'gif', 'webp', 'bmp', 'tiff'])

/** Larger ones are not decoded. */
const pixelLimit = 50_000_000

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

export function hasThumbnail({ image, width, height }: Pick<BlobRow, 'image' | 'width' | 'height'>): boolean {
  return thumbnailed.has(image) && (width ?? 0) * (height ?? 0) <= pixelLimit
}
