import { verbatim } from '../../api/json.ts'
import { showBlob } from '../blobs/represent.ts'
import type { EmbedRow } from './schema.ts'

export function showEmbed(row: EmbedRow, origin: string) {
  const image = row.image && showBlob(row.image, origin)
  return {
    id: row.id,
    type: row.type,
    title: row.title,
    description: row.description,
    image,
    url: row.url,
    thumbnail_url: image?.thumbnail_url ?? null,
    actions: row.actions,
    metadata: verbatim(row.metadata),
    author_name: row.author_name,
    author_url: row.author_url,
    provider_name: row.provider_name,
    provider_url: row.provider_url,
    html: row.html,
    width: row.width,
    height: row.height,
  }
}

/** The embed without texts of its page or author, for webhooks. */
export function embedWithoutWords(row: EmbedRow): EmbedRow {
  return { ...row, title: null, description: null, actions: [], author_name: null, provider_name: null, html: null }
}
