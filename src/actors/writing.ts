import { WriteStatement, type Batch } from '../storage/batch.ts'
import type { EventRow } from '../storage/events.ts'
import type { Decision } from './decision.ts'
import type { Draft } from './draft.ts'
import type { AppEvent } from './event.ts'
import type { AppRow, MemberRow } from './state.ts'
import * as store from './store.ts'

type Add = <Row extends object>(batch: Batch<Row>, rows: Row[]) => unknown

/** All that some decisions write, of any number of apps. Empty where they change nothing. */
export function toStatement(decisions: Decision[], now: Date): WriteStatement {
  const statement = new WriteStatement()
  const add: Add = (batch, rows) => rows.length > 0 && statement.add(batch, rows)
  const changed = decisions.map(({ draft }) => draft).filter(hasMoved)
  addApps(add, changed)
  addMembers(add, changed)
  for (const [batch, rows] of gather(decisions)) add(batch, [...rows.values()])
  add(
    store.insertEvents,
    decisions.flatMap(({ events }) => events.map(toRow)),
  )
  const first = decisions
    .flatMap(({ outcomes }) => outcomes)
    .filter(outcome => 'result' in outcome && !outcome.isRepeat)
  add(
    store.insertOnce,
    first.flatMap(outcome =>
      'result' in outcome && outcome.task.once
        ? [{ ...outcome.task.once, result: outcome.result ?? null, created_at: now }]
        : [],
    ),
  )
  return statement
}

/** Something happened in the app, so that its row is written. */
export function hasMoved({ app, base }: Draft): boolean {
  return app !== base.app
}

function toRow({ app_id, rev, prev, type, actor_id, kind, entity_id, facts, created_at }: AppEvent): EventRow {
  return { app_id, rev, prev, type, actor_id, entity_type: kind.entity, entity_id, facts, created_at }
}

function addApps(add: Add, drafts: Draft[]): void {
  const heads: store.MovedHead[] = []
  const whole: store.MovedApp[] = []
  for (const { app, base } of drafts) {
    const known_rev = base.app.head_rev
    if (isHeadOnly(app, base.app)) heads.push(toHead(app, known_rev))
    else whole.push({ ...app, known_rev })
  }
  add(store.saveHeads, heads)
  add(store.saveApps, whole)
}

function toHead(app: AppRow, known_rev: number): store.MovedHead {
  return {
    id: app.id,
    known_rev,
    rev: app.rev,
    head_rev: app.head_rev,
    head_at: app.head_at,
    item_count: app.item_count,
    trashed_count: app.trashed_count,
    made_count: app.made_count,
    last_id: app.last_id,
    last_by: app.last_by,
    prior_id: app.prior_id,
  }
}

function addMembers(add: Add, drafts: Draft[]): void {
  const marks: MemberRow[] = []
  const whole: MemberRow[] = []
  const gone: { app_id: number; user_id: number }[] = []
  for (const { base, changed } of drafts) {
    for (const [user, row] of changed) {
      if (row === null) gone.push({ app_id: base.app.id, user_id: user })
      else if (isMarkOnly(row, base.member(user))) marks.push(row)
      else whole.push(row)
    }
  }
  add(store.saveMarks, marks)
  add(store.saveMembers, whole)
  add(store.removeMembers, gone)
}

/** The rows that handlers and followers declared, by what writes them; of rows with one key only the newest. */
function gather(decisions: Decision[]): Map<Batch<object>, Map<unknown, object>> {
  const rows = new Map<Batch<object>, Map<unknown, object>>()
  for (const { writes } of decisions) {
    for (const { batch, row } of writes) {
      let kept = rows.get(batch)
      if (kept === undefined) rows.set(batch, (kept = new Map()))
      kept.set(batch.key === undefined ? kept.size : batch.key(row), row)
    }
  }
  return rows
}

/**
 * Nothing but what every event moves: the cheap statement will do. Here and below member by member, as each message asks
 * both: looking members up by their names in a list takes ten times as long.
 */
function isHeadOnly(app: AppRow, before: AppRow): boolean {
  return (
    app.uid === before.uid &&
    app.name === before.name &&
    app.description === before.description &&
    app.metadata === before.metadata &&
    app.tags === before.tags &&
    app.access === before.access &&
    app.directory_id === before.directory_id &&
    app.picture_id === before.picture_id &&
    app.owner_id === before.owner_id &&
    app.is_joinable === before.is_joinable &&
    app.updated_at === before.updated_at &&
    app.updated_by === before.updated_by &&
    app.trashed_at === before.trashed_at &&
    app.deleted_at === before.deleted_at
  )
}

function isMarkOnly(row: MemberRow, before: MemberRow | undefined): boolean {
  return (
    before !== undefined &&
    row.access === before.access &&
    row.joined_rev === before.joined_rev &&
    row.pinned_at === before.pinned_at &&
    row.starred_at === before.starred_at &&
    row.archived_id === before.archived_id &&
    row.is_removed === before.is_removed &&
    row.hidden_id === before.hidden_id &&
    row.is_subscribed === before.is_subscribed &&
    row.subscribed_rev === before.subscribed_rev
  )
}
