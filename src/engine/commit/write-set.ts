import { WriteStatement, type Batch } from '../../postgres/batch.ts'
import type { EventRow } from '../../log/events.ts'
import type { DecidedEntry } from './decide.ts'
import type { Draft } from '../draft.ts'
import { toEventRow } from '../event.ts'
import type { AppRow, MemberRow } from '../state.ts'
import * as store from '../store.ts'
import { insertIdempotencyRows, type IdempotencyRow } from './idempotency.ts'

type Add = <Row extends object>(batch: Batch<Row>, rows: Row[]) => unknown

/** The statement that writes all rows of some decisions, of any number of apps. Empty where nothing changes. */
export function toStatement(decisions: DecidedEntry[], now: Date): WriteStatement {
  const statement = new WriteStatement()
  const add: Add = (batch, rows) => rows.length > 0 && statement.add(batch, rows)
  const changed = decisions.map(({ draft }) => draft).filter(hasMoved)
  addApps(add, changed)
  addMembers(add, changed)
  for (const [batch, rows] of gather(decisions)) add(batch, newest(batch, rows))
  add(store.insertEvents, toEventRows(decisions))
  add(insertIdempotencyRows, toIdempotencyRows(decisions, now))
  return statement
}

/** True where the draft has events, so that the app's row is written. */
export function hasMoved({ app, base }: Draft): boolean {
  return app !== base.app
}

function toEventRows(decisions: DecidedEntry[]): EventRow[] {
  const rows: EventRow[] = []
  for (const { events } of decisions) for (const event of events) rows.push(toEventRow(event))
  return rows
}

/** The rows that let repeated requests with an idempotency key get the first result. */
function toIdempotencyRows(decisions: DecidedEntry[], now: Date): IdempotencyRow[] {
  const rows: IdempotencyRow[] = []
  for (const { results } of decisions) {
    for (const result of results) {
      const { idempotencyKey } = result.pending
      if (idempotencyKey === undefined || !('result' in result) || result.isRepeat) continue
      rows.push({ ...idempotencyKey, result: result.result ?? null, created_at: now })
    }
  }
  return rows
}

function addApps(add: Add, drafts: Draft[]): void {
  const heads: store.MovedApp[] = []
  const whole: store.MovedApp[] = []
  for (const { app, base } of drafts) {
    const moved = { ...app, known_rev: base.app.head_rev }
    if (isHeadOnly(app, base.app)) heads.push(moved)
    else whole.push(moved)
  }
  add(store.saveHeads, heads)
  add(store.saveApps, whole)
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

/** The rows that commands and projections have declared, by the batch statement that writes them. */
function gather(decisions: DecidedEntry[]): Map<Batch<object>, object[]> {
  const rows = new Map<Batch<object>, object[]>()
  for (const { writes } of decisions) {
    for (const { batch, row } of writes) {
      const gathered = rows.get(batch)
      if (gathered === undefined) rows.set(batch, [row])
      else gathered.push(row)
    }
  }
  return rows
}

/** Of rows with equal keys only the newest. */
function newest({ key }: Batch<object>, rows: object[]): object[] {
  return key === undefined ? rows : [...new Map(rows.map(row => [key(row), row])).values()]
}

/**
 * True where only counters and revs have changed, so that the cheaper statement suffices. Written out property by
 * property, as is `isMarkOnly`, for each message calls both: a loop over names takes 150 ns for a member row instead of
 * 8 (measured).
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
