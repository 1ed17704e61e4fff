import type { Work } from '../../../engine/command.ts'
import { invalid, type Problem } from '../../../lib/errors.ts'
import { UnknownEmbed } from '../../embeds/schema.ts'
import { addAttachments, removeAttachments } from '../../files/attachments/attachments.ts'
import type { FileRow } from '../../files/schema.ts'
import { UnknownMeeting } from '../../meetings/schema.ts'
import { changeOptions } from '../../options/poll.ts'
import { removeOptionsOf, removeVotesOf } from '../../options/store.ts'
import { removeReactionsOf } from '../../reactions/store.ts'
import { removeStarsOf } from '../../stars/store.ts'
import type { ContentEntity, ContentKind } from '../../content/kind.ts'
import { settleText } from '../../content/text/mentions.ts'
import { hasParts, noParts, type ContentItem, type Parts } from '../parts.ts'
import type { ContentChange, Wanted } from './prepare.ts'
import { IsEmpty } from '../schema.ts'

/** As many as one request may attach: all of them come with the item. */
const mostAttachments = 50

/** Numbers that an edit takes: its event, and one for each part that may be new. */
export function numbersForChange({ blobs, options }: ContentChange): number {
  return 1 + (blobs?.length ?? 0) + (options?.length ?? 0)
}

/** What an item is after an edit; writes what changes beside its row. 422 where nothing would be left in it. */
export function changeItem<Loaded>(
  work: Work<Loaded>,
  { entity }: ContentKind,
  item: ContentItem,
  change: ContentChange,
): ContentItem {
  const { text, html, plain } = change.text === undefined ? item : settleText(change.text, work)
  const parts: Parts = { ...(item.parts ?? noParts) }
  if (change.embed !== undefined) parts.embed = toChosen(change.embed, parts.embed, UnknownEmbed)
  if (change.meeting !== undefined) parts.meeting = toChosen(change.meeting, parts.meeting, UnknownMeeting)
  if (change.options !== undefined) {
    const asking = { app_id: item.app_id, item_type: entity, item_id: item.id }
    parts.options = changeOptions(work, asking, parts.options, change.options)
  }
  parts.attachments = changeAttachments(work, { type: entity, id: item.id }, parts.attachments, change)
  if (text === null && isBare(parts)) throw IsEmpty()
  const updated: ContentItem = {
    ...item,
    text,
    html,
    plain,
    parts,
    metadata: change.metadata === undefined ? item.metadata : change.metadata,
    tags: change.tags ?? item.tags,
    embed_id: parts.embed?.id ?? null,
    meeting_id: parts.meeting?.id ?? null,
    attachment_count: parts.attachments.length,
    option_count: parts.options.length,
    updated_at: work.now,
    updated_by: work.by.user,
  }
  if (!hasParts(updated)) delete updated.parts
  return updated
}

/** What an edit names, or what the item had already. */
function toChosen<Row extends { id: number }>(
  wanted: Wanted<Row> | null,
  before: Row | null,
  Unknown: () => Problem,
): Row | null {
  if (wanted === null) return null
  if (wanted.id === before?.id) return before
  if (wanted.row === null) throw Unknown()
  return wanted.row
}

/** True where nothing is left that an item can consist of: reactions alone are none. */
function isBare({ attachments, options, embed, meeting }: Parts): boolean {
  return attachments.length === 0 && options.length === 0 && embed === null && meeting === null
}

/** Attached files to keep come first, in their order, then the new ones. */
function changeAttachments<Loaded>(
  work: Work<Loaded>,
  parent: { type: ContentEntity; id: number },
  before: FileRow[],
  { attachments: wanted, blobs = [] }: ContentChange,
): FileRow[] {
  const unknown = wanted?.filter(id => before.every(file => file.id !== id)) ?? []
  if (unknown.length > 0) throw invalid({ attachments: unknown.map(id => `there is no file ${id} attached`) })
  const kept = wanted === undefined ? before : before.filter(({ id }) => wanted.includes(id))
  if (kept.length + blobs.length > mostAttachments)
    throw invalid({ blobs: [`must be at most ${mostAttachments} in all`] })
  if (kept.length < before.length)
    removeAttachments(
      work,
      before.filter(file => !kept.includes(file)),
    )
  return blobs.length === 0 ? kept : [...kept, ...addAttachments(work, parent, blobs)]
}

/** Removes what hangs on an item that goes for good. Embeds and meetings stay: other items may have them. */
export function removeParts<Loaded>(work: Work<Loaded>, item: ContentItem): void {
  const { id, option_count, reaction_count, star_count, parts } = item
  if (parts !== undefined) removeAttachments(work, parts.attachments)
  if (reaction_count > 0) work.write(removeReactionsOf, { id })
  if (star_count > 0) work.write(removeStarsOf, { id })
  if (option_count === 0) return
  work.write(removeOptionsOf, { id })
  work.write(removeVotesOf, { id })
}
