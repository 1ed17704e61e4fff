import { overloaded, problem } from '../lib/errors.ts'
import type { Db } from '../storage/sql.ts'
import type { AppActor, Task } from './app-actor.ts'
import { catchUp, type EventTypes } from './catch-up.ts'
import { Numbers } from './command.ts'
import {
  decide,
  loadAndDecide,
  type Decision,
  type Follower,
  type Job,
  type Occasion,
  type Outcome,
} from './decision.ts'
import type { Environment } from './environment.ts'
import type { AppEvent } from './event.ts'
import type { Lane, Locked } from './lane.ts'
import type { People } from './people.ts'
import type { AppState } from './state.ts'
import { hasMoved, toStatement } from './writing.ts'

const AppIsGone = problem(404, 'not-found', 'There is no such app, or it is not visible to you.')

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
  /**
   * The actor's memory may be wrong, or its app is gone: the next use must load it anew. What waits in it, and `taken`,
   * which was taken out of it and not begun, is done by the next one.
   */
  discard: (actor: AppActor, taken?: Task[]) => void
  now: () => Date
}

/**
 * One group commit: decides every task on the exact state of its app, writes everything in one statement, commits; then
 * memory and events. Resolves with what the callers are to be told. Rejects with OutcomeUnknown where the commit may have
 * happened; with anything else nothing was written, and a transaction may still have to be rolled back.
 *
 * Usually nobody else writes to the apps, so the tasks are decided on what memory holds, and the statement checks that
 * this still is the newest. Where it is not, they are decided once more, under the lock.
 */
export async function flush(parts: FlushParts, lane: Lane, jobs: Job[]): Promise<Outcome[]> {
  const decisions = (await flushUnlocked(parts, lane, jobs)) ?? (await flushLocked(parts, lane, jobs))
  for (const decision of decisions) conclude(parts, decision)
  return decisions.flatMap(({ outcomes }) => outcomes)
}

/** One round trip. Null where it could not be done: then nothing was written. */
async function flushUnlocked(parts: FlushParts, lane: Lane, jobs: Job[]): Promise<Decision[] | null> {
  if (jobs.some(isLoading)) return null
  const count = countNumbers(jobs)
  const drawn = lane.stock.take(count, Math.max(...jobs.map(({ actor }) => actor.state.app.head_rev)))
  if (drawn === null) return null
  const environment = parts.environment.rev
  const now = parts.now()
  const occasion = toOccasion(parts, jobs, now, drawn.numbers, new Map())
  const decisions = jobs.map(job => decide(occasion, job))
  if (decisions.some(isRepeatRefused)) return null
  const drafts = decisions.map(({ draft }) => draft)
  const isWritten = await lane.commitIf(toStatement(decisions, now), {
    moved: drafts.filter(hasMoved).length,
    still: drafts.filter(draft => !hasMoved(draft)).map(({ app }) => app),
    environment,
    drawnAtMs: drawn.atMs,
    count,
  })
  return isWritten ? decisions : null
}

/** Locks the apps and brings their states to the revs found before it decides. Two round trips and what is loaded. */
async function flushLocked(parts: FlushParts, lane: Lane, jobs: Job[]): Promise<Decision[]> {
  const count = countNumbers(jobs)
  const locked = await lane.begin(
    jobs.map(({ actor }) => actor.id),
    jobs.flatMap(({ tasks }) => tasks.flatMap(({ once }) => (once ? [once.key] : []))),
    count,
    jobs.some(isLoading) ? 0 : lane.stock.toDraw(count),
  )
  const now = parts.now()
  const occasion = toOccasion(parts, jobs, now, locked.numbers, locked.once)
  const decisions = await lane.inTime(decideLocked(parts, occasion, lane.db, jobs, locked))
  const statement = toStatement(decisions, now)
  if (statement.isEmpty) await lane.rollback()
  else await lane.commit(statement, locked, decisions.filter(({ draft }) => hasMoved(draft)).length)
  return decisions
}

/** On the connection that holds the locks, for as long as it is the lane's. */
async function decideLocked(
  parts: FlushParts,
  occasion: Occasion,
  db: Db,
  jobs: Job[],
  locked: Locked,
): Promise<Decision[]> {
  await parts.environment.reach(locked.environment)
  const present = await requireExact(parts, db, jobs, locked)
  // Together: what several of them have to load then takes one round trip. All of them come to their end: what was left
  // of one would run in the transaction after this one.
  const settled = await Promise.allSettled(
    present.map(async job => (isLoading(job) ? loadAndDecide(occasion, job, db) : decide(occasion, job))),
  )
  return settled.map(result => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

/** The jobs whose apps are there, each with its state at the rev that the lock found. Answers the others. */
async function requireExact(parts: FlushParts, db: Db, jobs: Job[], locked: Locked): Promise<Job[]> {
  const exact: Job[] = []
  for (const job of jobs) {
    const { state } = job.actor
    const head = locked.heads.get(job.actor.id)
    const missed = head === undefined ? null : head === state.app.head_rev ? [] : await catchUp(db, state, parts.events)
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

function toOccasion(
  { followers, people }: FlushParts,
  jobs: Job[],
  now: Date,
  numbers: number[],
  once: Occasion['once'],
): Occasion {
  const isAlone = jobs.length === 1 && jobs[0]!.tasks.length === 1
  return { followers, people, numbers: new Numbers(numbers), now, once, isAlone }
}

/** Whoever repeats a request may have lost the right to make it: under the lock it is looked up what it was answered. */
function isRepeatRefused({ outcomes }: Decision): boolean {
  return outcomes.some(outcome => 'reason' in outcome && outcome.task.once !== undefined)
}

function isLoading({ tasks }: Job): boolean {
  return tasks[0]!.command.load !== undefined
}

function countNumbers(jobs: Job[]): number {
  const ofTask = ({ command, input }: Task) => command.numbers?.(input) ?? 2
  return jobs.reduce((sum, { tasks }) => tasks.reduce((inner, task) => inner + ofTask(task), sum), 0)
}

function conclude({ published, committed }: FlushParts, { job, draft, events }: Decision): void {
  draft.adopt()
  if (events.length === 0) return
  published(job.actor.state, events)
  committed(job.actor.id, job.actor.state.app.head_rev)
}
