import type { Db } from '../../../postgres/sql.ts'
import type { ContentRow } from '../schema.ts'
import { isShown, isWithin, toKey, type Listed } from './positions/place.ts'
import { findStart, walkLimit } from './positions/position.ts'

/** Ids between these, both excluded. */
export interface Range {
  after?: number | undefined
  before?: number | undefined
}

/** A page of a place, or of a range of it, by id. */
export interface IdPage {
  range: Range
  /** The number of shown items before the range, and in it. */
  skipped: number
  count: number
  skip: number
  take: number
  descending: boolean
}

/** Reads a page at any depth. Served by (app_id, id) and (parent_id, id). */
export async function listById(
  db: Db,
  listed: Listed,
  { range: { after, before }, skipped, count, skip, take, descending }: IdPage,
): Promise<ContentRow[]> {
  const { table, place, shown } = listed
  const key = toKey(db, place)
  const limit = Math.min(take, count - skip)
  const first = descending ? count - skip - limit : skip
  // The newest pages are read far more often than others: these are walked to from their end.
  if (descending && skip < first && skip <= walkLimit) {
    const rows = await db<ContentRow[]>`
      select * from ${db(table)}
      where ${isWithin(db, place, { before })} and ${isShown(db, shown)}
      order by ${key} desc, id desc limit ${limit} offset ${skip}`
    return Array.from(rows)
  }
  const start =
    first <= walkLimit ? { id: (after ?? -1) + 1, skip: first } : await findStart(db, listed, skipped + first)
  const rows = await db<ContentRow[]>`
    select * from ${db(table)} where ${isWithin(db, place, { from: start.id })} and ${isShown(db, shown)}
    order by ${key}, id limit ${limit} offset ${start.skip}`
  return descending ? rows.toReversed() : Array.from(rows)
}
