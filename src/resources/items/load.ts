import type { Principal } from '../../auth/principal.ts'
import type { Db } from '../../postgres/sql.ts'
import type { ContentEntity } from '../content/kind.ts'
import type { PartReader } from '../content/parts/part.ts'
import type { ContentRow } from '../content/schema.ts'
import { findStarred } from '../stars/store.ts'
import { findSubscribed } from '../subscriptions/store.ts'
import { hasParts, isOn, mapParts, partList, type ContentItem, type PartName, type Parts } from './parts.ts'
import { subscriptionOf } from './represent.ts'

/**
 * The parts of items, by item; no entry for items without any. One query for each kind of part that an item has; none
 * for items that bring their parts. `counter`: see Part.
 */
export async function loadParts(
  db: Db,
  items: readonly ContentItem[],
  counter: Principal | null = null,
): Promise<ReadonlyMap<number, Parts>> {
  const parts = new Map<number, Parts>()
  const open: ContentItem[] = []
  for (const item of items) {
    if (item.parts !== undefined && (counter === null || isWhole(item, item.parts))) parts.set(item.id, item.parts)
    else if (hasParts(item)) open.push(item)
  }
  if (open.length === 0) return parts
  const found = await Promise.all(
    partList.map(([, part]) => {
      const having = open.filter(item => isOn(part, item))
      return having.length === 0 ? new Map<number, unknown>() : part.load(db, having, counter)
    }),
  )
  const byName = new Map(partList.map(([name], i) => [name, found[i]!]))
  for (const { id } of open) parts.set(id, mapParts((part, name) => byName.get(name)!.get(id) ?? part.none) as Parts)
  return parts
}

function isWhole(item: ContentItem, parts: Parts): boolean {
  return partList.every(([name, part]) => part.isWhole?.(parts[name], item) ?? true)
}

/** The items, each with its parts. */
export async function withParts(db: Db, items: readonly ContentItem[]): Promise<ContentItem[]> {
  const parts = await loadParts(db, items)
  return items.map(item => {
    const own = parts.get(item.id)
    return own === undefined ? item : { ...item, parts: own }
  })
}

/** The data that the parts of some items need about the reader, by part. */
export type About = Record<PartName, unknown>

/** Loads it while `parts` are being read. */
export async function loadAbout(
  items: readonly ContentItem[],
  parts: Promise<ReadonlyMap<number, Parts>>,
  reader: PartReader,
): Promise<About> {
  const about = await Promise.all(
    partList.map(([name, part]) => {
      // Only where it is awaited: otherwise its failure would be unhandled.
      const values = async () => new Map(Array.from(await parts, ([id, own]) => [id, own[name]]))
      return part.readAbout?.(items, values, reader)
    }),
  )
  return Object.fromEntries(partList.map(([name], i) => [name, about[i]])) as About
}

/** The caller's stars and subscriptions for the items of a page. Unlike parts, they are in summaries too. */
export interface Mine {
  starred: ReadonlySet<number>
  /** The posts and files that the caller is subscribed to. */
  subscribed: ReadonlySet<number>
}

export const noMine: Mine = { starred: new Set(), subscribed: new Set() }

/** Reads stars only for items with stars, and subscriptions only for subjects other than the app. */
export async function loadMine(
  db: Db,
  by: Principal,
  entity: ContentEntity,
  rows: readonly ContentRow[],
): Promise<Mine> {
  if (by.kind !== 'user') return noMine
  const starred = rows.flatMap(({ id, star_count }) => (star_count > 0 ? id : []))
  const parents = new Set(rows.flatMap(row => subscriptionOf(entity, row) ?? []))
  const [own, subscribed] = await Promise.all([
    starred.length === 0 ? noMine.starred : findStarred(db, by.user, starred),
    parents.size === 0 ? noMine.subscribed : findSubscribed(db, by.user, [...parents]),
  ])
  return { starred: own, subscribed }
}
