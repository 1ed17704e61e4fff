import { verbatim } from '../../lib/json.ts'
import type { EmbedRow } from './schema.ts'

export function showEmbed(row: EmbedRow) {
  return {
    id: row.id,
    type: row.type,
    title: row.title,
    description: row.description,
    url: row.url,
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

/** The same without what its page or its maker said. */
export function redactEmbed(row: EmbedRow) {
  return { ...showEmbed(row), title: null, description: null }
}
