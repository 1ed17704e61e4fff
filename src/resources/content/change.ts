import type { Work } from '../../actors/command.ts'
import { changeOptions } from '../options/poll.ts'
import { removeOptionsOf, removeVotesOf } from '../options/store.ts'
import { removeReactionsOf } from '../reactions/store.ts'
import { removeStarsOf } from '../stars/store.ts'
import type { ContentKind } from './kind.ts'
import { settleText } from './mentions.ts'
import { hasParts, noParts, type ContentItem, type Parts } from './parts.ts'
import type { ContentChange } from './prepare.ts'
import { IsEmpty } from './schema.ts'

/** Numbers that an edit takes: its event, and one for each part that may be new. */
export function numbersForChange({ options }: ContentChange): number {
  return 1 + (options?.length ?? 0)
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
  if (change.embed !== undefined) parts.embed = change.embed
  if (change.meeting !== undefined) parts.meeting = change.meeting
  if (change.options !== undefined) {
    const asking = { app_id: item.app_id, item_type: entity, item_id: item.id }
    parts.options = changeOptions(work, asking, parts.options, change.options)
  }
  const isEmpty = text === null && parts.embed === null && parts.meeting === null && parts.options.length === 0
  if (isEmpty) throw IsEmpty()
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
    option_count: parts.options.length,
    updated_at: work.now,
    updated_by: work.by.user,
  }
  if (!hasParts(updated)) delete updated.parts
  return updated
}

/** Removes what hangs on an item that goes for good. Embeds and meetings stay: other items may have them. */
export function removeParts<Loaded>(work: Work<Loaded>, { id, option_count, reaction_count, star_count }: ContentItem) {
  if (reaction_count > 0) work.write(removeReactionsOf, { id })
  if (star_count > 0) work.write(removeStarsOf, { id })
  if (option_count === 0) return
  work.write(removeOptionsOf, { id })
  work.write(removeVotesOf, { id })
}
