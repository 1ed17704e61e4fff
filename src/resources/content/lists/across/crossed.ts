import type { Db } from '../../../../postgres/sql.ts'
import type { ContentRow } from '../../schema.ts'
import { countBeforeByUpdate } from '../by-update.ts'
import { findMadeFrom, findMoment, type Moment } from '../positions/moment.ts'
import type { Listed } from '../positions/place.ts'
import { countBefore } from '../positions/position.ts'
import type { Walk } from '../walk.ts'

// Orders such as `created_at desc,id`: a walk in which items of equal time are reversed. Where a page begins or ends
// within such a run, it shows the rows at an equal distance from the run's other end.

/** The number of items before a run of equal times, and before its end. */
export interface Run {
  start: number
  end: number
}

/** A stretch of the list in the order of the walk. */
export type Stretch = (skip: number, take: number) => Promise<ContentRow[]>

interface Crossed {
  count: number
  skip: number
  take: number
  list: Stretch
  /** The run that contains an item, in the order of the walk; null where the item has been deleted. */
  findRun: (item: ContentRow) => Promise<Run | null>
  timeOf: (item: ContentRow) => number
}

/** A page; `skip` must be below `count`. */
export async function listCrossed({ count, skip, take, list, findRun, timeOf }: Crossed): Promise<ContentRow[]> {
  // One more row on either side shows whether the run continues there.
  const first = Math.max(0, skip - 1)
  const end = Math.min(count, skip + take)
  const around = await list(first, Math.min(count, end + 1) - first)
  const rows = around.slice(skip - first, end - first)
  const goesOn = [around[skip - first - 1], around[end - first]].map(row => row && timeOf(row))
  const crossed: ContentRow[] = []
  for (let at = 0; at < rows.length;) {
    const time = timeOf(rows[at]!)
    const same = rows.slice(at).filter(row => timeOf(row) === time)
    const isPart = (at === 0 && goesOn[0] === time) || (at + same.length === rows.length && goesOn[1] === time)
    const run = isPart ? await findRun(rows[at]!) : null
    const shown = run === null ? same : await list(run.start + run.end - (skip + at + same.length), same.length)
    crossed.push(...shown.toReversed())
    at += same.length
  }
  return crossed
}

/** The run of shown items with the time of one item, counted from the oldest. */
export async function findRun(db: Db, listed: Listed, walk: Walk, id: number): Promise<Run | null> {
  const { table, place } = listed
  const moment = await findMoment(db, table, walk, id)
  if (moment === null) return null
  const { time } = moment
  const count = async (moment: Moment) =>
    walk.by === 'id'
      ? countBefore(db, listed, await findMadeFrom(db, place, table, moment))
      : countBeforeByUpdate(db, listed, moment)
  return { start: await count({ time, id: 0 }), end: await count({ time, id: Number.MAX_SAFE_INTEGER }) }
}
