import { annotationsPart } from '../annotations/part.ts'
import type { Part } from '../content/parts/part.ts'
import type { ContentRow } from '../content/schema.ts'
import { embedPart } from '../embeds/part.ts'
import { attachmentsPart } from '../files/attachments/part.ts'
import { meetingPart } from '../meetings/part.ts'
import { optionsPart } from '../options/part.ts'
import { reactionsPart } from '../reactions/part.ts'

/** The kinds of parts of items, under the names of their members in responses. A new kind is a new line. */
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

/** The kinds as a list, for code that knows none by name. */
export const partList = Object.entries(itemParts) as unknown as readonly [PartName, Part][]

/** The parts of one item. */
export type Parts = { [Name in PartName]: Parameters<ItemParts[Name]['present']>[0] }

/** An item with its parts. Absent: they have not been read; the row says whether there are any. */
export interface ContentItem extends ContentRow {
  parts?: Parts
}

/** The result of each part, by its name. */
export function mapParts<Result>(toResult: (part: Part, name: PartName) => Result): Record<PartName, Result> {
  return Object.fromEntries(partList.map(([name, part]) => [name, toResult(part, name)])) as Record<PartName, Result>
}

export const noParts = mapParts(part => part.none) as Parts

/** An item's value of a part. Deliveries queued before a kind of part existed lack it. */
export function ownOf(parts: Partial<Parts>, part: Part, name: PartName): unknown {
  return parts[name] ?? part.none
}

/** True for an empty value. */
export function isNone(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}

/** As a list: evaluated for every item of a page, destructuring the pairs costs ten times as much. */
const conditions = partList.map(([, part]) => part.isOn)

/** True where parts have to be read from the database: plain text, which most content is, has none. */
export function hasParts(row: ContentRow): boolean {
  for (const isOn of conditions) if (isOn(row)) return true
  return false
}

/** The ids of the users whom a whole item names. */
export function namesOf(item: ContentItem, parts = item.parts): number[] {
  const names = item.updated_by === null ? [item.created_by] : [item.created_by, item.updated_by]
  if (parts === undefined) return names
  return names.concat(partList.flatMap(([name, part]) => part.names?.(ownOf(parts, part, name)) ?? []))
}
