import { WriteStatement, type Batch } from '../../../postgres/batch.ts'
import type { DecidedEntry } from './decide.ts'
import type { Draft } from '../../draft.ts'
import { toEventRow } from '../../event.ts'
import { blankMember, type AppRow, type MemberRow } from '../../state.ts'
import * as store from '../../store.ts'
import { insertIdempotencyRows, type IdempotencyRow } from '../idempotency.ts'

/**
 * How a statement finds the rows of its apps. `exact`: all as they were decided on, or it writes nothing. `append`: it
 * writes those apps whose locks it gets and that its decisions still hold for, and says where they were. `locked`: it
 * holds their locks, and events have their place already.
 */
export type Placement = 'exact' | 'append' | 'locked'

/** The rows of one batch, each with its app. */
interface Gathered {
  rows: object[]
  apps: number[]
}

/** The statement that writes all rows of some decisions, of any number of apps. Empty where nothing changes. */
export function toStatement(decisions: DecidedEntry[], now: Date, placement: Placement): WriteStatement {
  const statement = new WriteStatement({ isPartial: placement === 'append' })
  const gathered = new Map<Batch<object>, Gathered>()
  const add = <Row extends object>(batch: Batch<Row>, row: Row, app: number) => {
    const found = gathered.get(batch as Batch<object>)
    if (found === undefined) gathered.set(batch as Batch<object>, { rows: [row], apps: [app] })
    else {
      found.rows.push(row)
      found.apps.push(app)
    }
  }
  for (const decision of decisions) {
    const { draft, writes, events } = decision
    const { id } = draft.app
    if (hasMoved(draft)) {
      addApp(add, decision, placement)
      addMembers(add, draft)
    }
    for (const { batch, row } of writes) add(batch, row, id)
    for (const event of events) {
      const row = toEventRow(event)
      if (placement !== 'append') add(store.insertEvents, row, id)
      else add(store.appendEvents, event === events[0] ? { ...row, prev: null } : row, id)
    }
    addIdempotencyRows(add, decision, now)
  }
  // In one order, so that equal sets of batches make equal statements, which PostgreSQL has prepared.
  for (const [batch, all] of [...gathered].sort(([{ name: a }], [{ name: b }]) => (a < b ? -1 : 1))) {
    const { rows, apps } = newest(batch, all)
    statement.add(batch, rows, apps)
  }
  return statement
}

type Add = <Row extends object>(batch: Batch<Row>, row: Row, app: number) => void

/** True where the decision may be committed on no other state of its app than the one that it was made on. */
export function isBoundToHead({ entry, draft }: DecidedEntry): boolean {
  return (
    draft.needsHead ||
    !isHeadOnly(draft.app, draft.base.app) ||
    entry.commands.some(({ command }) => command.commutes !== true)
  )
}

/**
 * True where the commit can assign numbers and times: all commands commute, and each row says which of its columns hold
 * some.
 */
export function isAssignable(decision: DecidedEntry): boolean {
  const { draft, writes } = decision
  if (isBoundToHead(decision) || writes.some(({ batch }) => batch.assigns === undefined)) return false
  for (const [user, row] of draft.changed)
    if (row === null || !isMarkOnly(row, draft.base.member(user) ?? blankMember(draft.app.id, user))) return false
  return true
}

/** True where the draft has events, so that the app's row is written. */
export function hasMoved({ app, base }: Draft): boolean {
  return app !== base.app
}

function addApp(add: Add, decision: DecidedEntry, placement: Placement): void {
  const { app, base } = decision.draft
  const moved = { ...app, known_rev: base.app.head_rev }
  if (placement !== 'exact' && !isBoundToHead(decision)) add(store.appendHeads, toAppended(app, base.app), app.id)
  else add(isHeadOnly(app, base.app) ? store.saveHeads : store.saveApps, moved, app.id)
}

/** The difference between two rows of an app, of which only counters and revs differ. */
function toAppended(app: AppRow, before: AppRow): store.AppendedApp {
  const isNewest = app.last_id !== before.last_id
  const isPrior = isNewest && app.prior_id !== null && app.prior_id > before.head_rev
  return {
    id: app.id,
    rev: app.rev === before.rev ? null : app.rev,
    head_rev: app.head_rev,
    head_at: app.head_at,
    items: app.item_count - before.item_count,
    trashed: app.trashed_count - before.trashed_count,
    made: app.made_count - before.made_count,
    last_id: isNewest ? app.last_id : null,
    last_by: isNewest ? app.last_by : null,
    prior_id: isPrior ? app.prior_id : null,
  }
}

function addMembers(add: Add, { base, changed }: Draft): void {
  const app = base.app.id
  for (const [user, row] of changed) {
    const before = base.member(user)
    if (row === null) add(store.removeMembers, { app_id: app, user_id: user }, app)
    else if (!isMarkOnly(row, before ?? blankMember(app, user))) add(store.saveMembers, row, app)
    else add(before === undefined ? store.insertMarks : store.saveMarks, row, app)
  }
}

/** The rows that let repeated requests with an idempotency key get the first result. */
function addIdempotencyRows(add: Add, { draft, results }: DecidedEntry, now: Date): void {
  for (const result of results) {
    const { idempotencyKey } = result.pending
    if (idempotencyKey === undefined || !('result' in result) || result.isRepeat) continue
    const row: IdempotencyRow = { ...idempotencyKey, result: result.result ?? null, created_at: now }
    add(insertIdempotencyRows, row, draft.app.id)
  }
}

/** Of rows with equal keys only the newest. */
function newest({ key }: Batch<object>, all: Gathered): Gathered {
  if (key === undefined) return all
  const kept = [...new Map(all.rows.map((row, at) => [key(row), at])).values()]
  return { rows: kept.map(at => all.rows[at]!), apps: kept.map(at => all.apps[at]!) }
}

/**
 * True where only counters and revs have changed, so that the cheaper statement suffices. Written out property by
 * property, as is `isMarkOnly`, for each message calls both: a loop over names takes 150 ns for a member row instead of
 * 8 (measured).
 */
function isHeadOnly(app: AppRow, before: AppRow): boolean {
  return (
    app.guard_rev === before.guard_rev &&
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

function isMarkOnly(row: MemberRow, before: MemberRow): boolean {
  return (
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
