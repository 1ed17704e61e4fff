import type { Db } from '../../../../postgres/sql.ts'
import type { ContentTable } from '../../store.ts'
import { isBefore, toText, type Moment } from '../positions/moment.ts'
import { blockSize } from '../positions/position.ts'
import type { Walk } from '../walk.ts'

// Positions by time over several apps, of visible items made directly in them: by creation, or by the last edit (by
// creation for an item that was never edited). Blocks store when they begin, so all but one of each app lie before a
// moment or after it; in that one, rows are counted. The beginning of a page is found by counting at the beginnings of
// a few blocks, each time nearer.

/** The beginning of a block. */
interface Mark extends Moment {
  app: number
  /** The number of items in the block; an app's newest block is taken for full. */
  size: number
  isEdits: boolean
}

/** The blocks of some apps. */
export interface Timeline {
  db: Db
  table: ContentTable
  by: Walk['by']
  /** By time; `lines` has those of each app, of items and of edits, separately. */
  marks: Mark[]
  lines: Mark[][]
  /** The newest item of each app, and the number of items that count by creation. */
  ends: Map<number, { moment: Moment; size: number }>
  count: number
}

/** Reads the blocks. Served by the primary keys of blocks and edit_blocks, and (app_id, id). */
export async function readTimeline(
  db: Db,
  { table, apps, by, count }: { table: ContentTable; apps: number[]; by: Walk['by']; count: number },
): Promise<Timeline> {
  const edited = by === 'update' ? db`edited_count - edited_trashed_count` : db`0`
  const made = db<Mark[]>`
    select app_id as app, ${toText(db, db`made_at`)} as time, first_id as id, false as "isEdits",
      ${blockSize}::int - trashed_count - deleted_count - (${edited}) as size
    from blocks where app_id = any(${apps}::bigint[]) and parent_id = 0`
  const edits = db<Mark[]>`
    select app_id as app, ${toText(db, db`first_at`)} as time, 0::bigint as id, true as "isEdits", item_count - trashed_count as size
    from edit_blocks where app_id = any(${apps}::bigint[]) and parent_id = 0`
  const ends = db<{ app: number; time: string; id: number; size: number }[]>`
    select p.id as app, ${toText(db, db`newest.created_at`)} as time, newest.id, p.item_count - coalesce((
      select sum(${edited}) from blocks b where b.app_id = p.id and b.parent_id = 0), 0)::bigint as size
    from apps p cross join lateral (
      select id, created_at from ${db(table)} t where t.app_id >= p.id and t.app_id <= p.id
      order by t.app_id desc, t.id desc limit 1
    ) newest
    where p.id = any(${apps}::bigint[])`
  const marks = [...(await made), ...(by === 'update' ? await edits : [])]
  marks.sort((a, b) => (isBefore(a, b) ? -1 : 1))
  const last = new Map((await ends).map(({ app, time, id, size }) => [app, { moment: { time, id }, size }]))
  const lines = [...Map.groupBy(marks, ({ app, isEdits }) => `${app} ${isEdits}`).values()]
  return { db, table, by, marks, lines, ends: last, count }
}

/** For each app, and for items and edits: the blocks in which a stretch of time begins and ends. */
interface Span {
  app: number
  isEdits: boolean
  first: Mark
  /** The first block beyond; null at the end of the app. */
  beyond: Mark | null
  /** The number of items in earlier blocks. */
  before: number
}

/** The blocks around the time between two moments; none of an app that began later. */
function toSpans({ lines }: Timeline, from: Moment, to: Moment): Span[] {
  return lines.flatMap(line => {
    const begun = line.findLastIndex(mark => !isBefore(from, mark))
    const at = Math.max(0, begun)
    const first = line[at]!
    if (begun < 0 && !isBefore(first, to)) return []
    const beyond = line.find((mark, i) => i > at && !isBefore(mark, to)) ?? null
    const before = line.slice(0, at).reduce((sum, { size }) => sum + size, 0)
    return { app: first.app, isEdits: first.isEdits, first, beyond, before }
  })
}

/** `select id, time` of the items in some spans between two moments, the first included. */
function selectWithin({ db, table, by }: Timeline, spans: Span[], from: Moment, to: Moment) {
  const made = spans.filter(({ isEdits }) => !isEdits)
  const edits = spans.filter(({ isEdits }) => isEdits)
  const moment = ({ time, id }: Moment) => db`(${time}::text::timestamptz, ${id}::bigint)`
  return db`
    select t.id, t.created_at as time
    from unnest(${made.map(({ app }) => app)}::bigint[], ${made.map(({ first }) => first.id)}::bigint[],
      ${made.map(({ beyond }) => beyond?.id ?? Number.MAX_SAFE_INTEGER)}::bigint[]) as s(app_id, first_id, end_id)
    cross join lateral (
      select id, created_at from ${db(table)} t
      where (t.app_id, t.id) >= (s.app_id, s.first_id) and (t.app_id, t.id) < (s.app_id, s.end_id)
        and t.trashed_at is null ${by === 'update' ? db`and t.updated_at is null` : db``}
        and (t.created_at, t.id) >= ${moment(from)} and (t.created_at, t.id) < ${moment(to)}
      offset 0
    ) t
    union all
    select t.id, t.updated_at
    from unnest(${edits.map(({ app }) => app)}::bigint[], ${edits.map(({ first }) => first.time)}::text[]) as s(app_id, first_at)
    cross join lateral (
      select id, updated_at from ${db(table)} t
      where t.app_id = s.app_id and t.trashed_at is null and t.parent_id is null
        and t.updated_at >= greatest(s.first_at::timestamptz, ${from.time}::text::timestamptz)
        and t.updated_at <= ${to.time}::text::timestamptz
        and (t.updated_at, t.id) >= ${moment(from)} and (t.updated_at, t.id) < ${moment(to)}
      offset 0
    ) t`
}

const beginning: Moment = { time: '-infinity', id: 0 }
const end: Moment = { time: 'infinity', id: 0 }

/** The number of items before a moment. */
export async function countBeforeMoment(timeline: Timeline, moment: Moment): Promise<number> {
  const { db, ends } = timeline
  let count = 0
  const open: Span[] = []
  for (const span of toSpans(timeline, moment, moment)) {
    const last = ends.get(span.app)
    const isOver = !span.isEdits && span.beyond === null && last !== undefined && isBefore(last.moment, moment)
    if (isOver) count += last.size
    else {
      count += span.before
      open.push(span)
    }
  }
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from (${selectWithin(timeline, open, beginning, moment)}) t`
  return count + row!.count
}

/** How far before the target a counted moment may be: two blocks. */
const near = 2 * blockSize

/** The ids of a stretch of the items, oldest first. */
export async function listIdsAt(timeline: Timeline, skip: number, take: number): Promise<number[]> {
  const { db, marks } = timeline
  const start = await findNear(timeline, skip)
  for (let width = 4; ; width *= 4) {
    const until = marks[start.at + width]
    const to = until ?? end
    const spans = toSpans(timeline, start.moment, to)
    const rows = await db<{ id: number }[]>`
      select id from (${selectWithin(timeline, spans, start.moment, to)}) t
      order by time, id limit ${take} offset ${skip - start.before}`
    if (until === undefined || rows.length === take) return rows.map(({ id }) => id)
  }
}

interface Start {
  moment: Moment
  before: number
  /** Its index among the marks. */
  at: number
}

/** The beginning of a block with at most `skip` items before it, and not many fewer. */
async function findNear(timeline: Timeline, skip: number): Promise<Start> {
  const { marks, count } = timeline
  let low: Start = { moment: beginning, before: 0, at: -1 }
  let high = { before: count, at: marks.length }
  let isMiddle = false
  while (high.at - low.at > 1 && skip - low.before > near) {
    // Interpolates between two counted positions; then bisects.
    const share = isMiddle ? 0.5 : (skip - low.before) / Math.max(1, high.before - low.before)
    const at = Math.min(high.at - 1, Math.max(low.at + 1, low.at + Math.floor(share * (high.at - low.at))))
    isMiddle = !isMiddle
    const { time, id } = marks[at]!
    const before = await countBeforeMoment(timeline, { time, id })
    if (before <= skip) low = { moment: { time, id }, before, at }
    else high = { before, at }
  }
  return low
}
