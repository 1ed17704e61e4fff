import { overloaded, problem } from '../lib/errors.ts'
import { WriteStatement, type Batch } from '../storage/batch.ts'
import type { EventRow } from '../storage/events.ts'
import { isRefusal, type AppActor, type OnceKey, type Task } from './app-actor.ts'
import { catchUp, type EventTypes } from './catch-up.ts'
import { Numbers, Work, type Write } from './command.ts'
import type { Environment } from './environment.ts'
import type { AppEvent } from './event.ts'
import type { Lane, Locked } from './lane.ts'
import type { People } from './people.ts'
import { reviveDates } from './revive.ts'
import { Draft, type AppState, type MemberRow } from './state.ts'
import * as store from './store.ts'

export const KeyReused = problem(422, 'idempotency-key-reused', 'This Idempotency-Key was used for another request.', {
  errors: { 'Idempotency-Key': ['was used for another request'] },
})
const AppIsGone = problem(404, 'not-found', 'There is no such app, or it is not visible to you.')

/** Rows that follow from an event and are written by the same commit, such as webhook deliveries. */
export type Follower = (event: AppEvent, state: AppState) => Write[]

/** Told of the events of one app after they were committed, in rev order, whichever node made them. */
export type CommitListener = (state: AppState, events: AppEvent[]) => void

export interface FlushParts {
  environment: Environment
  people: People
  events: EventTypes
  followers: Follower[]
  published: CommitListener
  /** Called after a commit of this node with the app's new rev: other nodes may want to know. */
  committed: (app: number, rev: number) => void
  /** The actor's memory may be wrong, or its app is gone: the next use must load it anew. */
  discard: (actor: AppActor) => void
  now: () => Date
}

/** One app's part of a flush. */
export interface Job {
  actor: AppActor
  tasks: Task[]
}

/** What became of a task. `isRepeat`: it was done before under the same idempotency key. */
export type Outcome = { task: Task; result: unknown; isRepeat: boolean } | { task: Task; reason: unknown }

/** What a job came to under the lock: written first; after the commit adopted, published and answered. */
interface Decision {
  job: Job
  draft: Draft
  outcomes: Outcome[]
  events: AppEvent[]
  writes: Write[]
}

/**
 * One group commit: lock the apps, bring their states to the rev found, decide every task, write everything in one
 * statement, commit; then memory and events. Resolves with what the callers are to be told. Rejects with OutcomeUnknown
 * where the commit may have happened; with anything else nothing was written, and the transaction is still to be
 * rolled back.
 */
export async function flush(parts: FlushParts, lane: Lane, jobs: Job[]): Promise<Outcome[]> {
  const tasks = jobs.flatMap(job => job.tasks)
  const locked = await lane.begin(
    jobs.map(job => job.actor.id),
    tasks.reduce((sum, { command, input }) => sum + (command.numbers?.(input) ?? 2), 0),
    tasks.flatMap(task => (task.once ? [task.once.key] : [])),
  )
  await parts.environment.reach(locked.environment)
  const present = await requireExact(parts, lane, jobs, locked)

  const now = parts.now()
  const shared = { locked, numbers: new Numbers(locked.numbers), now }
  // Together: what several of them have to load then takes one round trip.
  const decisions = await Promise.all(present.map(job => decide(parts, lane, job, shared)))

  const statement = new WriteStatement()
  addRows(statement, decisions, now)
  if (statement.isEmpty) await lane.rollback()
  else await lane.commit(statement, locked.transaction)

  for (const decision of decisions) conclude(parts, decision)
  return decisions.flatMap(({ outcomes }) => outcomes)
}

/** The jobs whose apps are there, each with its state at the rev that the lock found. Answers the others. */
async function requireExact(parts: FlushParts, lane: Lane, jobs: Job[], locked: Locked): Promise<Job[]> {
  const exact: Job[] = []
  for (const job of jobs) {
    const { state } = job.actor
    const head = locked.heads.get(job.actor.id)
    const missed =
      head === undefined ? null : head === state.app.head_rev ? [] : await catchUp(lane.db, state, parts.events)
    if (missed === null) {
      parts.discard(job.actor)
      for (const task of job.tasks) task.reject(head === undefined ? AppIsGone() : overloaded())
      continue
    }
    if (missed.length > 0) parts.published(state, missed)
    exact.push(job)
  }
  return exact
}

/** What all jobs of a flush have in common. */
interface Shared {
  locked: Locked
  numbers: Numbers
  now: Date
}

async function decide(parts: FlushParts, lane: Lane, job: Job, { locked, numbers, now }: Shared): Promise<Decision> {
  const draft = new Draft(job.actor.state)
  const decision: Decision = { job, draft, outcomes: [], events: [], writes: [] }
  for (const task of job.tasks) {
    const earlier = task.once && findEarlier(task.once, locked, decision)
    if (earlier !== undefined) {
      decision.outcomes.push({ task, ...earlier })
      continue
    }
    const { command, input, by } = task
    try {
      const loaded = await command.load?.(lane.db, draft.app.id, input, by)
      const work = new Work({ draft, by, now, loaded, people: parts.people, numbers })
      const result = command.decide(work, input)
      work.settle()
      decision.writes.push(...work.writes)
      decision.events.push(...work.events)
      decision.outcomes.push({ task, result, isRepeat: false })
    } catch (reason) {
      // A bug fails alone: the flush is repeated with this task by itself.
      if (!isRefusal(reason) && (job.tasks.length > 1 || locked.heads.size > 1)) throw reason
      decision.outcomes.push({ task, reason })
    }
  }
  for (const event of decision.events) {
    for (const follower of parts.followers) decision.writes.push(...follower(event, draft.base))
  }
  return decision
}

/** What was answered to the same key before: in an earlier commit, or by a task of this flush. */
function findEarlier(once: OnceKey, locked: Locked, { outcomes }: Decision) {
  const stored = locked.once.get(once.key.toString('hex'))
  if (stored !== undefined) {
    if (!stored.request.equals(once.request)) return { reason: KeyReused() }
    return { result: reviveDates(stored.result), isRepeat: true }
  }
  for (const outcome of outcomes) {
    if (!('result' in outcome) || !outcome.task.once?.key.equals(once.key)) continue
    if (!outcome.task.once.request.equals(once.request)) return { reason: KeyReused() }
    return { result: outcome.result, isRepeat: true }
  }
  return undefined
}

function addRows(statement: WriteStatement, decisions: Decision[], now: Date): void {
  const add = <Row extends object>(batch: Batch<Row>, rows: Row[]) => rows.length > 0 && statement.add(batch, rows)
  const changed = decisions.map(({ draft }) => draft).filter(draft => draft.app !== draft.base.app)
  add(
    store.saveHeads,
    changed.filter(isHeadOnly).map(draft => draft.app),
  )
  add(
    store.saveApps,
    changed.filter(draft => !isHeadOnly(draft)).map(draft => draft.app),
  )
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
}

function addMembers(add: <Row extends object>(batch: Batch<Row>, rows: Row[]) => unknown, drafts: Draft[]): void {
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
const appColumns = columnsBeside(store.saveApps, store.saveHeads)
const memberColumns = columnsBeside(store.saveMembers, store.saveMarks)

function columnsBeside<Row>(whole: Batch<Row>, cheap: Batch<Row>): (keyof Row)[] {
  return (Object.keys(whole.columns) as (keyof Row & string)[]).filter(column => !(column in cheap.columns))
}

function isMarkOnly(row: MemberRow, before: MemberRow | undefined): boolean {
  return before !== undefined && memberColumns.every(column => row[column] === before[column])
}

function conclude({ published, committed }: FlushParts, { job, draft, events }: Decision): void {
  draft.adopt()
  if (events.length === 0) return
  published(job.actor.state, events)
  committed(job.actor.id, job.actor.state.app.head_rev)
}
