import type { Batch, Fence, WriteStatement } from '../../../postgres/batch.ts'
import { drawsFor, firstOffset, usableMs } from '../../../log/id-pool.ts'
import { toBytesArray, toIdArray } from '../../../postgres/arrays.ts'
import { blockSize } from '../../state.ts'
import { appendHeads, saveApps, saveHeads } from '../../store.ts'

/** What the decisions of a commit assumed without a lock. */
export interface Expected {
  /** The apps that the statement writes, with the head rev that they must still have. */
  moved: Moved[]
  /** Apps that decisions read and the statement does not write, with the head rev that they should still have. */
  unmoved: AppRev[]
  /** The idempotency keys that the statement stores. None may be stored yet. */
  keys: Buffer[]
  /** The head rev that the shared log must still have. */
  sharedRev: number
  /** When the numbers of the commit were drawn, by PostgreSQL's clock; null where it has offsets alone. */
  drawnAtMs: number | null
  /** The most numbers that the next commit may use. */
  count: number
}

export interface AppRev {
  id: number
  head_rev: number
}

/** An app that a statement writes. */
export interface Moved extends AppRev {
  /**
   * The guard rev that the app must still have if it has another head rev; null where the decisions hold for this head
   * rev alone.
   */
  guard_rev: number | null
  /** The first and the last number, or offset, that the app's events and items use. */
  first: number
  last: number
  /** How many items are made in the app. */
  made: number
}

/** The row that a statement returns. */
export interface Attempt {
  holds: boolean
  now_ms: number
  numbers: string | null
  environment: number
  /** Where the fence does not hold: hex of the idempotency keys that were stored before. */
  keys: string | null
}

/** What an appending statement has assigned to the new items and events of an app. */
export interface Assignment {
  id: number
  /** The app's head rev before. */
  head_rev: number
  /** What is to be added to offsets to get numbers. */
  number_shift: number
  /** The time of the app's newest event before, in milliseconds, where the new ones got it because theirs was earlier. */
  held_at: number | null
}

/** The row that an appending statement returns. */
export interface AppendAttempt extends Attempt {
  /** The apps that were written. */
  held: Assignment[] | null
  /** The ids of the apps that the decisions read and that are as expected. */
  still: string | null
}

/** The present time of PostgreSQL's clock, in whole milliseconds. */
export const nowMs = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

/**
 * The fence of a statement that writes everything or nothing: all apps must be as they were decided on. It takes no locks
 * before. A single app is passed as values instead of arrays, and conditions that do not apply are left out: PostgreSQL
 * then spends a fifth less on a lone message (measured).
 */
export function toExactFence(statement: WriteStatement, expected: Expected, refill: number): Fence {
  const { moved } = expected
  const isOne = moved.length === 1
  const { shape, write } = movesAll(statement)
  const params = new Params()
  const written = placesOfApps(statement)
  const idsAt = written === null && moved.length > 0 ? params.add(isOne ? moved[0]!.id : toIdArray(moved.map(idOf))) : 0
  const revsAt = idsAt === 0 ? 0 : params.add(isOne ? moved[0]!.head_rev : toIdArray(moved.map(revOf)))
  const countAt = params.add(moved.length)
  const shared = toSharedConditions(expected, refill, params)
  return {
    shape: `exact ${isOne} ${moved.length > 0} ${shared.shape} ${shape}`,
    params: params.values,
    write: places => {
      const at = (place: number) => places[place - 1]!
      const [ids, revs] = written ?? [at(idsAt), at(revsAt)]
      const [id, rev] = isOne ? [`${ids}::bigint`, `${revs}::bigint`] : ['k.id', 'k.head_rev']
      const isFree = `a.id = ${id} and a.head_rev = ${rev}`
      const areFree = isOne
        ? `exists (select from apps a where ${isFree})`
        : `not exists (select from unnest(${ids}::bigint[], ${revs}::bigint[]) as k (id, head_rev)
          where not exists (select from apps a where ${isFree}))`
      const unmoved = shared.unmoved(at)
      const conditions = [
        moved.length > 0 && areFree,
        unmoved && `not exists (select from ${unmoved} where a.head_rev is distinct from k.head_rev)`,
      ]
      return {
        columns: shared.columns(at, conditions, moved.length > 0),
        returning: `${shared.returning(at, moved.length > 0 ? 'holds' : null)},
          1 / (not holds or ${write(at(countAt))})::int as whole from fence`,
      }
    },
  }
}

/**
 * The fence of a statement that writes each app by itself, under its lock, and leaves the others out. An app is written
 * if it has the head rev that was decided on; or another one, as long as its guard rev is the same and no block of its
 * content begins with the new items. Offsets become numbers that are drawn under the lock, and so are above all of the
 * app; a time before that of the app's newest event becomes that. An app that another transaction has locked is left out,
 * so that the statement waits for no other commit and takes part in no deadlock over apps. `at`: the time of the new
 * events.
 */
export function toAppendFence(statement: WriteStatement, expected: Expected, refill: number, at: Date): Fence {
  const { moved } = expected
  const { shape, write } = movesAll(statement)
  const params = new Params()
  const arrays = [
    moved.map(idOf),
    moved.map(revOf),
    moved.map(({ guard_rev }) => guard_rev ?? noGuard),
    moved.map(({ first }) => first),
    moved.map(({ last }) => last),
    moved.map(({ made }) => made),
  ].map(numbers => params.add(toIdArray(numbers)))
  const timeAt = params.add(at.toISOString())
  const shared = toSharedConditions(expected, refill, params)
  return {
    shape: `append ${shared.shape} ${shape}`,
    params: params.values,
    write: places => {
      const at = (place: number) => places[place - 1]!
      const [ids, heads, guards, firsts, lasts, made] = arrays.map(at)
      const newer = `case when a.head_at > ${at(timeAt)}::timestamptz then a.head_at end`
      const unmoved = shared.unmoved(at)
      return {
        before: [
          `locked as materialized (
            select a.id, a.head_rev, ${newer} as held_at, k.first, k.last
            from unnest(${ids}::bigint[], ${heads}::bigint[], ${guards}::bigint[], ${firsts}::bigint[],
              ${lasts}::bigint[], ${made}::int[]) as k (id, head_rev, guard_rev, first, last, made)
            join apps a on a.id = k.id and (a.head_rev = k.head_rev or (a.guard_rev = k.guard_rev
              and (k.made = 0 or (a.made_count % ${blockSize} > 0 and a.made_count % ${blockSize} + k.made <= ${blockSize}))))
            order by a.id for no key update of a skip locked)`,
          `held as materialized (
            select id as held_id, head_rev as held_rev, held_at, first as from_number, last as to_number,
              case when first < ${firstOffset} then 0 else nextval('numbers') - first end as number_shift
            from locked)`,
        ],
        columns: shared.columns(at, [], moved.length > 0),
        returning: `${shared.returning(at, 'holds and exists (select from held)')},
          1 / (not holds or ${write('(select count(*) from held)')})::int as whole,
          (select json_agg(json_build_object('id', held_id, 'head_rev', held_rev, 'number_shift', number_shift,
            'held_at', floor(extract(epoch from held_at) * 1000))) from held) as held,
          ${unmoved ? `(select string_agg(k.id::text, ',') from ${unmoved} where a.head_rev = k.head_rev)` : 'null'} as still
          from fence`,
      }
    },
  }
}

/** No app has this guard rev. */
const noGuard = -1

/** The parameters of a fence, by their position from 1. */
class Params {
  readonly values: Fence['params'] = []

  add(value: Fence['params'][number]): number {
    return this.values.push(value)
  }
}

/** The parts that both fences have: the shared log, idempotency keys, the age of the numbers, and new numbers. */
function toSharedConditions({ unmoved, keys, sharedRev, drawnAtMs }: Expected, refill: number, params: Params) {
  const draws = drawsFor(refill)
  const sharedAt = params.add(sharedRev)
  const drawnAt = drawnAtMs === null ? 0 : params.add(drawnAtMs)
  const drawsAt = draws > 1 ? params.add(draws) : 0
  const unmovedIdsAt = unmoved.length > 0 ? params.add(toIdArray(unmoved.map(idOf))) : 0
  const unmovedRevsAt = unmoved.length > 0 ? params.add(toIdArray(unmoved.map(revOf))) : 0
  const keysAt = keys.length > 0 ? params.add(toBytesArray(keys)) : 0
  type At = (place: number) => string
  const taken = (at: At) => `idempotency where key = any(${at(keysAt)}::bytea[])`
  return {
    shape: `${drawnAt > 0} ${draws > 1} ${unmoved.length > 0} ${keys.length > 0}`,
    /** The apps that decisions read, as `k`, with their rows as `a`; null where there are none. */
    unmoved: (at: At) =>
      unmoved.length > 0 &&
      `unnest(${at(unmovedIdsAt)}::bigint[], ${at(unmovedRevsAt)}::bigint[]) as k (id, head_rev)
        left join apps a on a.id = k.id`,
    columns(at: At, conditions: (string | false)[], writes: boolean) {
      const all = [
        ...conditions,
        keys.length > 0 && `not exists (select from ${taken(at)})`,
        `head_rev = ${at(sharedAt)}::bigint`,
      ]
      const isFresh = drawnAt === 0 ? 'true' : `${nowMs} - ${at(drawnAt)}::bigint < ${usableMs}`
      // The `case` orders the two: the transaction gets its own id, and only then the age of the numbers is checked.
      // Otherwise a commit that stalls in between could write numbers that the poller of changed apps no longer
      // expects. The limit tells the planner that there is one row, also before PostgreSQL has analyzed the table.
      return `head_rev as environment, case when ${all.filter(Boolean).join(' and ')}
        then ${writes ? `case when pg_current_xact_id() is not null then ${isFresh} end` : isFresh}
        else false end as holds from environment limit 1`
    },
    /** `drawsIf`: the condition under which new numbers are drawn; null for never. */
    returning(at: At, drawsIf: string | null) {
      const next =
        draws > 1
          ? `(select string_agg(nextval('numbers')::text, ',') from generate_series(1, ${at(drawsAt)}::int))`
          : `nextval('numbers')::text`
      return `holds, environment, ${nowMs} as now_ms,
        ${drawsIf === null ? 'null' : `case when ${drawsIf} then ${next} end`} as numbers,
        ${keys.length > 0 ? `case when not holds then (select string_agg(encode(key, 'hex'), ',') from ${taken(at)}) end` : 'null'} as keys`
    },
  }
}

/**
 * The parameters with the ids and the expected head revs of the apps that the statement writes, where one batch writes
 * all of them: PostgreSQL parses them once.
 */
function placesOfApps(statement: WriteStatement): [ids: string, revs: string] | null {
  const [batch, other] = appBatches.filter(batch => statement.has(batch))
  if (batch === undefined || other !== undefined) return null
  return [statement.placeOf(batch, 'id'), statement.placeOf(batch, 'known_rev')]
}

const appBatches: Batch<never>[] = [saveHeads, saveApps, appendHeads].map(batch => batch as unknown as Batch<never>)
const idOf = ({ id }: AppRev) => id
const revOf = ({ head_rev }: AppRev) => head_rev

/**
 * The condition that the statement has written each app exactly once, from the head rev that it was expected to have.
 */
export function movesAll(statement: WriteStatement) {
  const names = appBatches.filter(batch => statement.has(batch)).map(({ name }) => name)
  const counts = names.map(name => `(select count(*) from ${name})`)
  return { shape: names.join(), write: (moved: string) => `${[0, ...counts].join(' + ')} = ${moved}::int` }
}
