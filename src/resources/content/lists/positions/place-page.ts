import type { Recent } from '../../../../engine/recent.ts'
import { NotFound } from '../../../../lib/errors.ts'
import { toId } from '../../../../api/reference.ts'
import type { Page } from '../../../../api/page.ts'
import type { Sql } from '../../../../postgres/sql.ts'
import type { ContentRow } from '../../schema.ts'
import type { OrderField } from '../../store.ts'
import { listById, type IdPage, type Range } from '../by-id.ts'
import type { ContentPage } from '../list.ts'
import type { Listed } from './place.ts'
import { countBefore, countTrashed, countTrashOf, isListed } from './position.ts'

/**
 * The number of listed items of a place, from the counters of its app or parent. Trashed items are counted where there
 * is no counter.
 */
export async function countKept(
  sql: Sql,
  { table, place, shown: { kept, ownTrash } }: Listed,
  { visible, trashed }: { visible: number; trashed?: number },
): Promise<number> {
  if (ownTrash !== undefined) return visible + (await countTrashOf(sql, table, place, ownTrash))
  if (kept === 'visible') return visible
  const inTrash = trashed ?? (await countTrashed(sql, place))
  return kept === 'trashed' ? inTrash : visible + inTrash
}

interface Asked {
  listed: Listed
  page: Page<OrderField>
  descending: boolean
  range: Range
  /** The number of shown items of the place, in the range or not. */
  count: number
  around: string | undefined
  /** The place's newest items in memory. */
  recent?: Recent | undefined
}

/** A page of one place by id, at any depth, also around an item. 404 where that item is not listed. */
export async function listPlace(sql: Sql, asked: Asked): Promise<ContentPage> {
  const { listed, page, descending, range, around, recent } = asked
  const { skipped, count } = await measure(sql, asked)
  if (around !== undefined) {
    const id = toId(around)
    if (!isIn(range, id) || !(await isListed(sql, listed, id))) throw NotFound()
    page.skip = centre((await countBefore(sql, listed, id)) - skipped, count, page.take, descending)
  }
  if (page.countOnly || page.skip >= count) return { rows: [], count, page }
  const part = { range, skipped, count, skip: page.skip, take: page.take, descending }
  return { rows: pickRecent(recent, part) ?? (await listById(sql, listed, part)), count, page }
}

/** The number of items before the range, and in it. */
async function measure(sql: Sql, { listed, range: { after, before }, count }: Asked) {
  const skipped = after === undefined ? 0 : await countBefore(sql, listed, after + 1)
  const end = before === undefined ? count : await countBefore(sql, listed, before)
  return { skipped, count: Math.max(0, end - skipped) }
}

function isIn({ after = -1, before = Infinity }: Range, id: number): boolean {
  return id > after && id < before
}

/** The page from memory, if memory has all of it. */
function pickRecent(recent: Recent | undefined, { range, count, skip, take, descending }: IdPage): ContentRow[] | null {
  if (recent === undefined || range.after !== undefined || range.before !== undefined) return null
  const forgotten = count - recent.items.length
  const end = descending ? count - skip : Math.min(count, skip + take)
  const first = descending ? Math.max(0, end - take) : skip
  if (first < forgotten) return null
  const rows = recent.items.slice(first - forgotten, end - forgotten) as ContentRow[]
  return descending ? rows.reverse() : rows
}

/** The skip of the page that has an item as close to its middle as possible. */
export function centre(position: number, count: number, take: number, descending: boolean): number {
  const place = descending ? count - 1 - position : position
  return Math.max(0, Math.min(place - Math.floor(take / 2), count - take))
}
