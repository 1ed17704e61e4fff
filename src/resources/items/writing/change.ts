import type { Work } from '../../../engine/command.ts'
import type { ContentKind } from '../../content/kind.ts'
import { settleText } from '../../content/text/mentions.ts'
import { changeParts, hasParts, isBare, numbersForParts, type ContentItem } from '../parts.ts'
import type { ContentChange } from './prepare.ts'
import { IsEmpty } from '../schema.ts'

/** The numbers that an edit uses: for its event, and its parts. */
export function numbersForChange({ parts }: ContentChange): number {
  return 1 + numbersForParts(parts)
}

/** The item after an edit; writes the rows of changed parts. 422 where it would be empty. */
export function changeItem(
  work: Work<unknown>,
  { entity }: ContentKind,
  item: ContentItem,
  change: ContentChange,
): ContentItem {
  const { text, html, plain } = change.text === undefined ? item : settleText(change.text, work)
  const updated: ContentItem = {
    ...item,
    ...change.fields,
    text,
    html,
    plain,
    updated_at: work.now,
    updated_by: work.by.user,
  }
  if (change.parts !== null) changeParts(work, entity, updated, change.parts)
  if (text === null && isBare(updated)) throw IsEmpty()
  if (!hasParts(updated)) delete updated.parts
  return updated
}
