import { findVisible } from '../../embeds/access.ts'
import { UnknownEmbed, type EmbedRow } from '../../embeds/schema.ts'
import { claimEmbed } from '../../embeds/store.ts'
import type { BlobRow } from '../../blobs/schema.ts'
import { prepareBlobs } from '../../files/attachments/attachments.ts'
import { UnknownMeeting, type MeetingRow } from '../../meetings/schema.ts'
import { claimMeeting } from '../../meetings/store.ts'
import { prepareText, type Author } from '../../content/text/mentions.ts'
import type { ParsedText } from '../../content/text/render.ts'
import type { ContentRow } from '../../content/schema.ts'
import type { ContentUpdate, NewContent } from '../schema.ts'

interface Caller extends Author {
  now: () => Date
}

/** What a new item is to have beside its text, looked up. */
export interface PreparedParts {
  blobs: BlobRow[]
  embed: EmbedRow | null
  meeting: MeetingRow | null
  options: { text: string }[]
}

/** Content whose text was parsed and whose parts were looked up at the edge. */
export interface PreparedContent {
  text: ParsedText | null
  metadata: Record<string, unknown> | null
  tags: string[]
  /** Null where there are none: then nothing needs to be done about them. */
  parts: PreparedParts | null
  /** Blobs that agents read with it. */
  context: readonly number[]
}

/** What an edit names; `row` is null where it is unknown or not for the caller, which matters unless the item has it. */
export interface Wanted<Row> {
  id: number
  row: Row | null
}

/** Members that are absent stay as they are. */
export interface ContentChange {
  id: number
  /** Null: no text. */
  text?: ParsedText | null
  metadata?: Record<string, unknown> | null
  tags?: string[]
  /** To attach. */
  blobs?: BlobRow[]
  /** Attached files to keep. */
  attachments?: number[]
  embed?: Wanted<EmbedRow> | null
  meeting?: Wanted<MeetingRow> | null
  /** The whole poll; empty: none. */
  options?: NonNullable<ContentUpdate['options']>
}

/**
 * Parses and looks up what a new item of an app consists of; 422 for what is unknown or may not be used. At once where
 * there is nothing to look up.
 */
export function prepareContent(
  body: NewContent,
  app: number,
  caller: Caller,
): PreparedContent | Promise<PreparedContent> {
  const text = prepareText(body.text, app, caller)
  if (text instanceof Promise || hasParts(body) || body.context?.length) return prepareWhole(body, text, caller)
  return toContent(body, text, null, noContext)
}

async function prepareWhole(
  body: NewContent,
  text: ParsedText | Promise<ParsedText>,
  caller: Caller,
): Promise<PreparedContent> {
  const parsed = await text
  // The same blobs may be sent with any number of items: each use keeps them for longer.
  const context = await prepareBlobs(body.context ?? [], caller, 'context')
  const parts = hasParts(body) ? await prepareParts(body, caller) : null
  return toContent(
    body,
    parsed,
    parts,
    context.map(({ id }) => id),
  )
}

const noContext: readonly number[] = []

function hasParts({ blobs, embed_id, meeting_id, options }: NewContent): boolean {
  return (embed_id ?? meeting_id ?? null) !== null || Boolean(blobs?.length) || Boolean(options?.length)
}

async function prepareParts(body: NewContent, caller: Caller): Promise<PreparedParts> {
  const { blobs, embed_id = null, meeting_id = null, options } = body
  return {
    blobs: await prepareBlobs(blobs ?? [], caller),
    embed: embed_id === null ? null : await requireEmbed(embed_id, caller),
    meeting: meeting_id === null ? null : await requireMeeting(meeting_id, caller),
    options: options ?? [],
  }
}

function toContent(
  { metadata, tags }: NewContent,
  text: ParsedText,
  parts: PreparedParts | null,
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
  caller: Caller,
): Promise<ContentChange> {
  const { text, metadata, tags, blobs, attachments, embed_id, meeting_id, options } = body
  const change: ContentChange = { id }
  if (text !== undefined) change.text = await prepareText(text, app_id, caller)
  if (metadata !== undefined) change.metadata = metadata
  if (tags !== undefined) change.tags = tags ?? []
  if (blobs && blobs.length > 0) change.blobs = await prepareBlobs(blobs, caller)
  if (attachments !== undefined) change.attachments = attachments ?? []
  if (embed_id !== undefined)
    change.embed = embed_id === null ? null : { id: embed_id, row: await findEmbed(embed_id, caller) }
  if (meeting_id !== undefined)
    change.meeting = meeting_id === null ? null : { id: meeting_id, row: await findMeeting(meeting_id, caller) }
  if (options !== undefined) change.options = options ?? []
  return change
}

async function requireEmbed(id: number, caller: Caller): Promise<EmbedRow> {
  const embed = await findEmbed(id, caller)
  if (embed === null) throw UnknownEmbed()
  return embed
}

async function requireMeeting(id: number, caller: Caller): Promise<MeetingRow> {
  const meeting = await findMeeting(id, caller)
  if (meeting === null) throw UnknownMeeting()
  return meeting
}

/** The embed, where the caller may put it to use. */
async function findEmbed(id: number, caller: Caller): Promise<EmbedRow | null> {
  const embed = await findVisible(id, caller)
  return embed !== null && (await claimEmbed(caller.sql, id, caller.now())) ? embed : null
}

function findMeeting(id: number, { sql, by, now }: Caller): Promise<MeetingRow | null> {
  return claimMeeting(sql, id, by, now())
}
