import { verbatim } from '../../api/json.ts'
import type { Work } from '../../engine/command.ts'
import type { ContentFields, ContentSummary } from '../apps/content-fields.ts'
import type { ContentRow } from '../content/schema.ts'
import { htmlOf, plainOf, type Rendering } from '../content/text/render.ts'

// Both run for every item, and name each member: spreading takes three times as long.

/** The row of a new item without parts and parent. */
export function newRow(work: Work<unknown>, fields: ContentFields, { text, html, plain }: Rendering): ContentRow {
  return {
    id: work.nextId(),
    app_id: work.app.id,
    parent_type: null,
    parent_id: null,
    text,
    html,
    plain,
    metadata: fields.metadata,
    tags: fields.tags,
    embed_id: null,
    meeting_id: null,
    attachment_count: 0,
    option_count: 0,
    reaction_count: 0,
    comment_count: 0,
    made_count: 0,
    star_count: 0,
    created_at: work.now,
    created_by: work.by.user,
    updated_at: null,
    updated_by: null,
    trashed_at: null,
  }
}

/** The members of a summary that are equal for all readers. */
type ShownRow = Record<Exclude<keyof (typeof ContentSummary)['shape'], 'is_starred' | 'is_subscribed'>, unknown>

/** An item as all its readers see it, without what hangs on it. */
export function showRow(row: ContentRow): ShownRow {
  return {
    id: row.id,
    text: row.text,
    html: htmlOf(row),
    plain: plainOf(row),
    metadata: verbatim(row.metadata),
    tags: row.tags,
    is_trashed: row.trashed_at !== null,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
