import type { Work } from '../../../engine/command.ts'
import type { ContentEntity } from '../../content/kind.ts'
import type { PartAuthor } from '../../content/parts/part.ts'
import { isNone, noParts, ownOf, partList, type ContentItem, type PartName, type Parts } from '../parts.ts'

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
  for (const [name, part] of partList) if (part.isOn(item)) part.remove?.(work, owner, ownOf(parts, part, name))
}
