import type { Db } from '../../../../postgres/sql.ts'
import type { ContentRow } from '../../schema.ts'
import { countBeforeByUpdate } from '../by-update.ts'
import { findMadeFrom, findMoment, type Moment } from '../positions/moment.ts'
import type { Listed } from '../positions/place.ts'
import { countBefore } from '../positions/position.ts'
import type { Walk } from '../walk.ts'

// Orders such as `created_at desc,id` are that of a walk, in which what has the same time stands the other way round.
// Where a page begins or ends amid it, the rows to show are as far from its one end as those there are from the other.

/** How many items of the list come before some of the same time, and how many before or among them. */
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
  /** The run of the list that an item is in, in the order of the walk; null where it has been deleted. */
  findRun: (item: ContentRow) => Promise<Run | null>
  timeOf: (item: ContentRow) => number
}

/** A page, `skip` of which must be below `count`. */
export async function listCrossed({ count, skip, take, list, findRun, timeOf }: Crossed): Promise<ContentRow[]> {
  // With a row on either side, to see whether their time goes on there.
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

/** The shown items of the place that have the same time as one of them, counted from the oldest. */
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
