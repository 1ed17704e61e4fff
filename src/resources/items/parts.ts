import type { Principal } from '../../auth/principal.ts'
import type { Db } from '../../postgres/sql.ts'
import type { EmbedRow } from '../embeds/schema.ts'
import { listEmbeds } from '../embeds/store.ts'
import { isAnswer, listAnnotations } from '../files/attachments/annotations.ts'
import { listAttachments } from '../files/attachments/attachments.ts'
import type { FileRow } from '../files/schema.ts'
import type { MeetingRow } from '../meetings/schema.ts'
import { listMeetings } from '../meetings/store.ts'
import type { OptionRow } from '../options/schema.ts'
import { listOptions } from '../options/store.ts'
import type { ReactionRow } from '../reactions/schema.ts'
import { listFirst } from '../reactions/store.ts'
import type { ContentRow } from '../content/schema.ts'

/** What hangs on an item beside its row. It travels in queued deliveries and stored answers, so it is plain JSON. */
export interface Parts {
  attachments: FileRow[]
  options: OptionRow[]
  /** The first of them; the row knows how many there are. */
  reactions: ReactionRow[]
  embed: EmbedRow | null
  meeting: MeetingRow | null
  /** Files that an agent's answer cites, in that order; not those in the trash. */
  annotations: FileRow[]
}

/** An item with its parts. Absent: they have not been read; the counts on the row say whether there are any. */
export interface ContentItem extends ContentRow {
  parts?: Parts
}

export const noParts: Parts = {
  attachments: [],
  options: [],
  reactions: [],
  embed: null,
  meeting: null,
  annotations: [],
}

/** Reactions that come with an item; the rest is in their list. */
const shownReactions = 100

/** Reactions in one answer to a client that counts them itself: no more than 100 items bring to any other. */
const mostReactions = 100 * shownReactions

/** True where it is worth asking the database: plain text, which most content is, has no parts. */
export function hasParts(row: ContentRow): boolean {
  const { attachment_count, option_count, reaction_count, embed_id, meeting_id } = row
  const isCounted = attachment_count > 0 || option_count > 0 || reaction_count > 0
  return isCounted || embed_id !== null || meeting_id !== null || isAnswer(row)
}

/**
 * The parts of items, by item; no entry for those without any. One query for each kind of part that an item has, and
 * none for items that bring their parts with them. `counter` is a caller whose client counts reactions itself: it gets
 * all of them, or of the items with most as many as an answer has room for, and always the caller's own.
 */
export async function loadParts(
  db: Db,
  items: readonly ContentItem[],
  counter: Principal | null = null,
): Promise<ReadonlyMap<number, Parts>> {
  const parts = new Map<number, Parts>()
  const open: ContentItem[] = []
  for (const item of items) {
    const isThere = counter === null || item.parts?.reactions.length === item.reaction_count
    if (item.parts !== undefined && isThere) parts.set(item.id, item.parts)
    else if (hasParts(item)) open.push(item)
  }
  if (open.length === 0) return parts
  const most = counter === null ? shownReactions : shareOf(mostReactions, open)
  const own = counter?.kind === 'user' ? counter.user : null
  const [attachments, options, reactions, embeds, meetings, annotations] = await Promise.all([
    look(
      open.flatMap(({ id, attachment_count }) => (attachment_count > 0 ? id : [])),
      ids => listAttachments(db, ids),
    ),
    look(
      open.flatMap(({ id, option_count }) => (option_count > 0 ? id : [])),
      ids => listOptions(db, ids),
    ),
    look(
      open.flatMap(({ id, reaction_count }) => (reaction_count > 0 ? id : [])),
      ids => listFirst(db, ids, most, own),
    ),
    look(
      open.flatMap(({ embed_id }) => embed_id ?? []),
      ids => listEmbeds(db, ids),
    ),
    look(
      open.flatMap(({ meeting_id }) => meeting_id ?? []),
      ids => listMeetings(db, ids),
    ),
    look(
      open.flatMap(item => (isAnswer(item) ? item.id : [])),
      ids => listAnnotations(db, ids),
    ),
  ])
  for (const { id, embed_id, meeting_id } of open) {
    parts.set(id, {
      attachments: attachments.get(id) ?? [],
      options: options.get(id) ?? [],
      reactions: reactions.get(id) ?? [],
      embed: (embed_id !== null && embeds.get(embed_id)) || null,
      meeting: (meeting_id !== null && meetings.get(meeting_id)) || null,
      annotations: annotations.get(id) ?? [],
    })
  }
  return parts
}

/** How many reactions each item may bring so that there is room for all: those with few leave theirs to the others. */
function shareOf(room: number, items: readonly ContentItem[]): number {
  const counts = items.map(item => item.reaction_count).sort((a, b) => a - b)
  let left = room
  for (const [i, count] of counts.entries()) {
    const share = Math.floor(left / (counts.length - i))
    if (count > share) return share
    left -= count
  }
  return room
}

/** The same items, each with its parts. */
export async function withParts(db: Db, items: readonly ContentItem[]): Promise<ContentItem[]> {
  const parts = await loadParts(db, items)
  return items.map(item => {
    const own = parts.get(item.id)
    return own === undefined ? item : { ...item, parts: own }
  })
}

async function look<Part>(
  ids: number[],
  list: (ids: number[]) => Promise<Map<number, Part>>,
): Promise<ReadonlyMap<number, Part>> {
  return ids.length === 0 ? new Map() : list(ids)
}
