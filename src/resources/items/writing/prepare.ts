import { changedFields, toFields, type ContentFields } from '../../apps/content-fields.ts'
import { prepareBlobs } from '../../blobs/find.ts'
import type { PartAuthor } from '../../content/parts/part.ts'
import type { ContentRow } from '../../content/schema.ts'
import { prepareText } from '../../content/text/mentions.ts'
import type { ParsedText } from '../../content/text/render.ts'
import type { ContentUpdate, NewContent } from '../schema.ts'
import { namesParts, prepareParts, type WantedParts } from '../parts.ts'

/** Content with parsed text and resolved parts. */
export interface PreparedContent {
  text: ParsedText
  fields: ContentFields
  /** Null without parts, so that nothing needs to be done about them. */
  parts: WantedParts | null
  /** Blobs that agents read with it. */
  context: readonly number[]
}

/** Absent members stay. */
export interface ContentChange {
  id: number
  text?: ParsedText
  fields: Partial<ContentFields>
  /** Null: no part changes. */
  parts: WantedParts | null
}

/**
 * Parses the text and resolves the references of a new item of an app; 422 for unknown references and for things that
 * the author may not use. Synchronous where there is nothing to look up.
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
  // Any number of items may name a blob: each item that names it defers its removal.
  const context = await prepareBlobs(body.context ?? [], author, 'context')
  const parts = namesParts(body) ? await prepareParts(body, author) : null
  const ids = context.map(({ id }) => id)
  return toContent(body, parsed, parts, ids)
}

const noContext: readonly number[] = []

function toContent(
  body: NewContent,
  text: ParsedText,
  parts: WantedParts | null,
  context: readonly number[],
): PreparedContent {
  return { text, fields: toFields(body), parts, context }
}

/**
 * Parses and resolves an edit, as `prepareContent` does for a new item. Whether the item already has a part, and may
 * keep it, only the command can decide.
 */
export async function prepareChange(
  { id, app_id }: Pick<ContentRow, 'id' | 'app_id'>,
  body: ContentUpdate,
  author: PartAuthor,
): Promise<ContentChange> {
  const change: ContentChange = { id, fields: changedFields(body), parts: null }
  if (body.text !== undefined) change.text = await prepareText(body.text, app_id, author)
  change.parts = await prepareParts(body, author)
  return change
}
