import { WriteStatement, type Batch } from '../storage/batch.ts'
import type { EventRow } from '../storage/events.ts'
import type { Decision } from './decision.ts'
import type { Draft } from './draft.ts'
import type { MemberRow } from './state.ts'
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
    decisions.flatMap(({ events }) => events.map(event => ({ ...event, entity_type: event.kind.entity }) as EventRow)),
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

function addApps(add: Add, drafts: Draft[]): void {
  const heads: store.MovedApp[] = []
  const whole: store.MovedApp[] = []
  for (const draft of drafts) (isHeadOnly(draft) ? heads : whole).push(toMovedApp(draft))
  add(store.saveHeads, heads)
  add(store.saveApps, whole)
}

function toMovedApp({ app, base }: Draft): store.MovedApp {
  return { ...app, known_rev: base.app.head_rev }
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

/** Nothing but what every event moves: the cheap statement will do. */
function isHeadOnly({ app, base }: Draft): boolean {
  return appColumns.every(column => app[column] === base.app[column])
}

/** What the cheap statements leave out. */
const appColumns = columnsBeside(store.saveApps, store.saveHeads) as (keyof Draft['app'])[]
const memberColumns = columnsBeside(store.saveMembers, store.saveMarks)

function columnsBeside<Row>(whole: Batch<Row>, cheap: Batch<Row>): (keyof Row)[] {
  return (Object.keys(whole.columns) as (keyof Row & string)[]).filter(column => !(column in cheap.columns))
}

function isMarkOnly(row: MemberRow, before: MemberRow | undefined): boolean {
  return before !== undefined && memberColumns.every(column => row[column] === before[column])
}
