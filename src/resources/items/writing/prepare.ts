import { prepareBlobs } from '../../blobs/find.ts'
import type { PartAuthor } from '../../content/parts/part.ts'
import type { ContentRow } from '../../content/schema.ts'
import { prepareText } from '../../content/text/mentions.ts'
import type { ParsedText } from '../../content/text/render.ts'
import type { ContentUpdate, NewContent } from '../schema.ts'
import { namesParts, prepareParts, type WantedParts } from './parts.ts'

/** Content whose text was parsed and whose parts were looked up at the edge. */
export interface PreparedContent {
  text: ParsedText | null
  metadata: Record<string, unknown> | null
  tags: string[]
  /** Null where there are none: then nothing needs to be done about them. */
  parts: WantedParts | null
  /** Blobs that agents read with it. */
  context: readonly number[]
}

/** Members that are absent stay as they are. */
export interface ContentChange {
  id: number
  /** Null: no text. */
  text?: ParsedText | null
  metadata?: Record<string, unknown> | null
  tags?: string[]
  /** Null: none of them changes. */
  parts: WantedParts | null
}

/**
 * Parses and looks up what a new item of an app consists of; 422 for what is unknown or may not be used. At once where
 * there is nothing to look up.
 */
export function prepareContent(
  body: NewContent,
  app: number,
  author: PartAuthor,
): PreparedContent | Promise<PreparedContent> {
  const text = prepareText(body.text, app, author)
  if (text instanceof Promise || namesParts(body) || body.context?.length) return prepareWhole(body, text, author)
  return toContent(body, text, null, noContext)
}

async function prepareWhole(
  body: NewContent,
  text: ParsedText | Promise<ParsedText>,
  author: PartAuthor,
): Promise<PreparedContent> {
  const parsed = await text
  // The same blobs may be sent with any number of items: each use keeps them for longer.
  const context = await prepareBlobs(body.context ?? [], author, 'context')
  const parts = namesParts(body) ? await prepareParts(body, author) : null
  const ids = context.map(({ id }) => id)
  return toContent(body, parsed, parts, ids)
}

const noContext: readonly number[] = []

function toContent(
  { metadata, tags }: NewContent,
  text: ParsedText,
  parts: WantedParts | null,
  context: readonly number[],
): PreparedContent {
  return { text, metadata: metadata ?? null, tags: tags ?? [], parts, context }
}

/**
 * The same for an edit. What the item has already may stay, whoever brought it there: what it has is known only when it is
 * changed.
 */
export async function prepareChange(
  { id, app_id }: Pick<ContentRow, 'id' | 'app_id'>,
  body: ContentUpdate,
  author: PartAuthor,
): Promise<ContentChange> {
  const { text, metadata, tags } = body
  const change: ContentChange = { id, parts: null }
  if (text !== undefined) change.text = await prepareText(text, app_id, author)
  if (metadata !== undefined) change.metadata = metadata
  if (tags !== undefined) change.tags = tags ?? []
  change.parts = await prepareParts(body, author)
  return change
}
