import { annotationsPart } from '../annotations/part.ts'
import type { Part } from '../content/parts/part.ts'
import type { ContentRow } from '../content/schema.ts'
import { embedPart } from '../embeds/part.ts'
import { attachmentsPart } from '../files/attachments/part.ts'
import { meetingPart } from '../meetings/part.ts'
import { optionsPart } from '../options/part.ts'
import { reactionsPart } from '../reactions/part.ts'

/** What hangs on items, under the names that they show it by. Another part is another line. */
export const itemParts = {
  attachments: attachmentsPart,
  options: optionsPart,
  reactions: reactionsPart,
  embed: embedPart,
  meeting: meetingPart,
  annotations: annotationsPart,
}
type ItemParts = typeof itemParts
export type PartName = keyof ItemParts

/** The same for what asks one after the other, and knows none by name. */
export const partList = Object.entries(itemParts) as unknown as readonly [PartName, Part][]

/** What hangs on one item beside its row. */
export type Parts = { [Name in PartName]: Parameters<ItemParts[Name]['present']>[0] }

/** An item with its parts. Absent: they have not been read; its row says whether there are any. */
export interface ContentItem extends ContentRow {
  parts?: Parts
}

/** What each part gives, by its name. */
export function mapParts<Result>(toResult: (part: Part, name: PartName) => Result): Record<PartName, Result> {
  return Object.fromEntries(partList.map(([name, part]) => [name, toResult(part, name)])) as Record<PartName, Result>
}

export const noParts = mapParts(part => part.none) as Parts

/** What an item has of a part. A delivery that was queued before there was the part knows nothing of it. */
export function ownOf(parts: Partial<Parts>, part: Part, name: PartName): unknown {
  return parts[name] ?? part.none
}

/** True where that is nothing. */
export function isNone(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}

/** Each in a list of its own: asked of every item of a page, taking them out of pairs costs ten times as much. */
const conditions = partList.map(([, part]) => part.isOn)

/** True where it is worth asking the database: plain text, which most content is, has no parts. */
export function hasParts(row: ContentRow): boolean {
  for (const isOn of conditions) if (isOn(row)) return true
  return false
}

/** Ids of the users whom a whole item names. */
export function namesOf(item: ContentItem, parts = item.parts): number[] {
  const names = item.updated_by === null ? [item.created_by] : [item.created_by, item.updated_by]
  if (parts === undefined) return names
  return names.concat(partList.flatMap(([name, part]) => part.names?.(ownOf(parts, part, name)) ?? []))
}
