import type { Recent } from '../../../actors/recent.ts'
import { NotFound } from '../../../lib/errors.ts'
import type { Page } from '../../../storage/page.ts'
import type { Sql } from '../../../storage/sql.ts'
import { toId } from '../find.ts'
import type { ContentRow } from '../schema.ts'
import type { OrderField } from '../store.ts'
import { listById, type IdPage, type Range } from './by-id.ts'
import { countBeforeByUpdate, listByUpdate } from './by-update.ts'
import type { ContentPage } from './list.ts'
import type { Listed } from './place.ts'
import type { Walk } from './walk.ts'
import { countBefore, countTrashed, countTrashOf, findItem } from './position.ts'

/** How many items of a place are listed, from what its app or parent keeps. What is trashed is added up where it does not. */
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
  walk: Walk
  range: Range
  /** How many items the place shows, in the range or not. */
  count: number
  around: string | undefined
  /** What memory holds of it. */
  recent?: Recent | undefined
}

/** A page of one place, however deep it is and wherever its middle is. 404 for a middle that is not listed. */
export async function listPlace(sql: Sql, asked: Asked): Promise<ContentPage> {
  const { listed, page, walk, range, around } = asked
  const { descending } = walk
  const { skipped, count } = await measure(sql, asked)
  if (around !== undefined) {
    const item = await findItem(sql, listed, toId(around))
    if (item === null || !isIn(range, item.id)) throw NotFound()
    const before =
      walk.by === 'id' ? await countBefore(sql, listed, item.id) : await countBeforeByUpdate(sql, listed, item)
    page.skip = centre(before - skipped, count, page.take, descending)
  }
  const { skip, take } = page
  if (page.countOnly || skip >= count) return { rows: [], count, page }
  if (walk.by === 'update')
    return { rows: await listByUpdate(sql, listed, { count, skip, take, descending }), count, page }
  const part = { range, skipped, count, skip, take, descending }
  const rows = pickRecent(asked.recent, part) ?? (await listById(sql, listed, part))
  return { rows, count, page }
}

/** How many items are before the range, and in it. */
async function measure(sql: Sql, { listed, range: { after, before }, count }: Asked) {
  const skipped = after === undefined ? 0 : await countBefore(sql, listed, after + 1)
  const end = before === undefined ? count : await countBefore(sql, listed, before)
  return { skipped, count: Math.max(0, end - skipped) }
}

function isIn({ after = -1, before = Infinity }: Range, id: number): boolean {
  return id > after && id < before
}

/** The page from memory, if all of it is there. */
function pickRecent(recent: Recent | undefined, { range, count, skip, take, descending }: IdPage): ContentRow[] | null {
  if (recent === undefined || range.after !== undefined || range.before !== undefined) return null
  const forgotten = count - recent.items.length
  const end = descending ? count - skip : Math.min(count, skip + take)
  const first = descending ? Math.max(0, end - take) : skip
  if (first < forgotten) return null
  const rows = recent.items.slice(first - forgotten, end - forgotten) as ContentRow[]
  return descending ? rows.reverse() : rows
}

/** The skip of the page that has an item as close to its middle as can be. */
export function centre(position: number, count: number, take: number, descending: boolean): number {
  const place = descending ? count - 1 - position : position
  return Math.max(0, Math.min(place - Math.floor(take / 2), count - take))
}
