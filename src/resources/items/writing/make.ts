import type { Work } from '../../../engine/command.ts'
import { isRemovable } from '../../apps/kinds.ts'
import { titleBy } from '../../apps/naming.ts'
import { changeTotal } from '../../content/commented.ts'
import { startBlock } from '../../content/lists/positions/blocks.ts'
import { insertContext } from './context-store.ts'
import type { ItemKind } from '../kinds.ts'
import { newRow } from '../row.ts'
import { settleText } from '../../content/text/mentions.ts'
import { listMentions, plainOf } from '../../content/text/render.ts'
import { toParentRef, type Parent, type ParentType } from '../../content/parent.ts'
import { changeParts, numbersForParts, type ContentItem } from '../parts.ts'
import { blockSize } from '../../../engine/state.ts'
import type { PreparedContent } from './prepare.ts'
import { IsEmpty } from '../schema.ts'

/** The numbers that a new item uses: for its id, its event, and its parts. */
export function numbersForItem({ parts }: PreparedContent): number {
  return 2 + numbersForParts(parts)
}

/** Writes a new item, directly in the app or with a parent, and emits its event. 422 where it is empty. */
export function makeItem(
  work: Work<unknown>,
  kind: ItemKind,
  content: PreparedContent,
  parent: (Parent & { type: ParentType }) | null,
): ContentItem {
  const { app } = work
  const rendered = settleText(content.text, work)
  if (rendered.text === null && content.parts === null) throw IsEmpty()
  const item: ContentItem = newRow(work, content.fields, rendered)
  if (content.parts !== null) changeParts(work, kind.entity, item, content.parts)
  if (content.context.length > 0) addContext(work, kind, item, content.context)
  if (parent === null) {
    work.write(kind.store.insert, item)
    if (app.made_count % blockSize === 0) {
      work.requireHead()
      startBlock(work, item)
    }
    const title = titleBy(work, plainOf(item))
    const before = newestForRemoved(work)
    if (before !== undefined) work.requireHead()
    const mentioned = listMentions(item.html)
    const hasFacts = title !== null || before !== undefined || mentioned.length > 0
    const facts = hasFacts && {
      facts: { title: title ?? undefined, before, ...(mentioned.length > 0 && { mentioned }) },
    }
    work.emit(kind.events.created, { entity: item.id, body: item, ...facts })
    return item
  }
  item.parent_type = parent.type
  item.parent_id = parent.id
  work.write(kind.store.insert, item)
  const made = { id: parent.id, reactions: 0, comments: 1, made: 1, stars: 0 }
  work.write(kind.parents[parent.type]!.changeCounts, made)
  work.write(changeTotal, { app_id: app.id, comments: 1 })
  if (parent.made_count % blockSize === 0) startBlock(work, item)
  const facts = { parent: toParentRef(item), comments: parent.comment_count + 1 }
  work.emit(kind.events.created, { entity: item.id, body: item, facts })
  return item
}

/** An app's newest visible message, 0 for none, where members have removed the app; otherwise undefined. */
export function newestForRemoved({ app, state }: Work<unknown>): number | undefined {
  if (!isRemovable(app)) return undefined
  return [...state.members()].some(({ is_removed }) => is_removed) ? (app.last_id ?? 0) : undefined
}

function addContext(
  work: Work<unknown>,
  { entity }: ItemKind,
  { id, created_at }: ContentItem,
  blobs: readonly number[],
): void {
  work.write(insertContext, { item_type: entity, item_id: id, blob_ids: `{${blobs.join()}}`, created_at })
}
