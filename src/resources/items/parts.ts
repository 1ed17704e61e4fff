import type { Work } from '../../engine/command.ts'
import { annotationsPart } from '../annotations/part.ts'
import type { ContentEntity } from '../content/kind.ts'
import type { Part, PartAuthor } from '../content/parts/part.ts'
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

/** True where a part has to be read from the database. */
export function isOn(part: Part, row: ContentRow): boolean {
  return Boolean(row[part.column]) && part.isMarked?.(row) !== false
}

/** As a list: evaluated for every item of a page, destructuring the pairs costs ten times as much. */
const kinds = partList.map(([, part]) => part)

/** True where parts have to be read from the database: plain text, which most content is, has none. */
export function hasParts(row: ContentRow): boolean {
  for (const part of kinds) if (isOn(part, row)) return true
  return false
}

/** The ids of the users whom a whole item names. */
export function namesOf(item: ContentItem, parts = item.parts): number[] {
  const names = item.updated_by === null ? [item.created_by] : [item.created_by, item.updated_by]
  if (parts === undefined) return names
  return names.concat(partList.flatMap(([name, part]) => part.names?.(ownOf(parts, part, name)) ?? []))
}

/** What is wanted of each part that a body names, looked up. What it looks like its part knows. */
export type WantedParts = Partial<Record<PartName, unknown>>

type Body = Readonly<Record<string, unknown>>

/** The members of a body, and whose they are. */
const members = partList.flatMap(([name, { input }]) => Object.keys(input?.changes ?? {}).map(key => ({ key, name })))

/** True where a new item names something that hangs on it. */
export function namesParts(body: Body): boolean {
  for (const { key } of members) if (body[key] !== undefined && !isNone(body[key])) return true
  return false
}

/** Looks up what a body names of each part; 422 for what there is not. Null where it has no member of any. */
export async function prepareParts(body: Body, author: PartAuthor): Promise<WantedParts | null> {
  const wanted: WantedParts = {}
  const named = new Set(members.filter(({ key }) => body[key] !== undefined).map(({ name }) => name))
  for (const [name, { input }] of partList) if (named.has(name)) wanted[name] = await input!.prepare(body, author)
  return named.size === 0 ? null : wanted
}

/** Ids that the parts take at most. */
export function numbersForParts(wanted: WantedParts | null): number {
  if (wanted === null) return 0
  let count = 0
  for (const [name, { input }] of partList) if (name in wanted) count += input?.numbers?.(wanted[name]) ?? 0
  return count
}

/** Makes the parts of an item what is wanted, and its row what it says of them; writes what changes beside the row. */
export function changeParts(work: Work<unknown>, entity: ContentEntity, item: ContentItem, wanted: WantedParts): void {
  const owner = { type: entity, id: item.id, app_id: item.app_id }
  const before = item.parts ?? noParts
  const parts: Record<PartName, unknown> = { ...before }
  for (const [name, part] of partList) {
    if (part.input === undefined || !(name in wanted)) continue
    parts[name] = part.input.change(work, owner, ownOf(before, part, name), wanted[name])
    Object.assign(item, part.input.columns(parts[name]))
  }
  item.parts = parts as Parts
}

/** True where an item has nothing of all that it can be sent with: reactions alone are no content. */
export function isBare({ parts = noParts }: ContentItem): boolean {
  return partList.every(([name, part]) => part.input === undefined || isNone(ownOf(parts, part, name)))
}

/** Removes what hangs on an item that goes for good. */
export function removeParts(work: Work<unknown>, entity: ContentEntity, item: ContentItem): void {
  const { parts } = item
  if (parts === undefined) return
  const owner = { type: entity, id: item.id, app_id: item.app_id }
  for (const [name, part] of partList) if (isOn(part, item)) part.remove?.(work, owner, ownOf(parts, part, name))
}
