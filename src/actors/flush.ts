import { problem } from '../lib/errors.ts'
import type { Db, Sql } from '../storage/sql.ts'
import type { AppActor, Task } from './app-actor.ts'
import { readMissed, type EventTypes } from './catch-up.ts'
import { Numbers } from './command.ts'
import type { CommitConnection, Conflict, Locked } from './commit-connection.ts'
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
import type { AppEvent, CommitListener } from './event.ts'
import type { People } from './people.ts'
import { hasMoved, toStatement } from './writing.ts'

const AppIsGone = problem(404, 'not-found', 'There is no such app, or it is not visible to you.')

export interface FlushParts {
  /** For what is read outside of the commits' transactions. */
  sql: Sql
  environment: Environment
  people: People
  events: EventTypes
  followers: Follower[]
  published: CommitListener
  /** Called after a commit of this node with the app's new events: other nodes may want to know. */
  committed: (events: AppEvent[]) => void
  /**
   * The actor's memory may be wrong, or its app is gone: the next use must load it anew. What waits in it, and `taken`,
   * which was taken out of it and not begun, is done by the next one.
   */
  discard: (actor: AppActor, taken?: Task[]) => void
  now: () => Date
}

/** What became of a group commit. */
export interface Flushed {
  /** What callers are to be told. */
  outcomes: Outcome[]
  /** Jobs of which nothing was done: their apps are contended, and are to be committed apart from the others. */
  apart: Job[]
}

/** How often the rest of a flush is tried again without those that were in the way. A guess: once is nearly always enough. */
const attemptLimit = 4

/**
 * One group commit: decides every task on the exact state of its app, writes everything in one statement, commits; then
 * memory and events. Rejects with OutcomeUnknown where the commit may have happened; with anything else nothing was
 * written, and a transaction may still have to be rolled back.
 *
 * Usually nobody else writes to the apps, so the tasks are decided on what memory holds, and the statement checks that
 * this still is the newest. An app for which it is not, or which somebody else is writing to, is left out, and the others
 * commit at once: it never waits for other nodes' commits.
 */
export async function flush(parts: FlushParts, connection: CommitConnection, jobs: Job[]): Promise<Flushed> {
  const found = await (flushOptimistic(parts, connection, jobs) ?? flushFree(parts, connection, jobs))
  for (const { job } of found.decisions) job.actor.contention.succeeded()
  return { outcomes: conclude(parts, found.decisions), apart: found.apart }
}

/**
 * The commit of jobs that must not hold up others: of contended apps, or one task of each app that loads rows first.
 * Reads what the apps have missed before it locks them; waits for the locks. Rejects as `flush` does.
 */
export async function flushApart(parts: FlushParts, connection: CommitConnection, jobs: Job[]): Promise<Outcome[]> {
  const behind = jobs.filter(({ actor }) => actor.isBehind)
  if (behind.length > 0) await bringForward(parts, parts.sql, behind)
  const count = countNumbers(jobs)
  const isLoadingAny = jobs.some(isLoading)
  const locked = await connection.begin({
    apps: jobs.map(({ actor }) => actor.id),
    keys: keysOf(jobs),
    count,
    ahead: isLoadingAny ? 0 : connection.ids.refillSize(count),
  })
  const decideAll = async () => {
    await parts.environment.reach(locked.environment)
    return decideLocked(parts, connection.db, await requireExact(parts, connection.db, jobs, locked), locked)
  }
  const decisions = await connection.withTimeout(decideAll())
  await commitLocked(parts, connection, decisions, locked)
  return conclude(parts, decisions)
}

interface Found {
  decisions: Decision[]
  apart: Job[]
}

/** One round trip, and one more for each time that something was in the way. Null where there are no numbers for it. */
function flushOptimistic(parts: FlushParts, connection: CommitConnection, jobs: Job[]): Promise<Found> | null {
  const count = countNumbers(jobs)
  const drawn = connection.ids.take(count, Math.max(...jobs.map(({ actor }) => actor.state.app.head_rev)))
  if (drawn === null) return null
  const now = parts.now()
  const decideOn = (jobs: Job[]) => {
    const context = toContext(parts, jobs, now, drawn.numbers, new Map())
    return jobs.map(job => decide(context, job))
  }
  const commit = async () => {
    const apart: Job[] = []
    const leave = ({ job }: Decision) => {
      job.actor.contention.conflicted()
      apart.push(job)
    }
    let environment = parts.environment.rev
    let decisions = split(decideOn(jobs), isRepeatRefused, leave)
    for (let attempt = 1; decisions.length > 0; attempt++) {
      const conflict = await connection.commitOptimistic(toStatement(decisions, now), {
        ...toKnown(decisions),
        environment,
        drawnAtMs: drawn.atMs,
        count,
      })
      if (conflict === null) break
      const isStale = conflict.environment !== environment
      const rest = split(decisions, decision => isInTheWay(conflict, decision), leave)
      // Nothing was in the way that can be left out: another race, or numbers that are too old.
      if (attempt === attemptLimit || (rest.length === decisions.length && !isStale)) {
        rest.forEach(leave)
        decisions = []
        break
      }
      decisions = rest
      if (!isStale) continue
      // What belongs to no app has changed: all is decided again, with the numbers of before.
      await parts.environment.reach(conflict.environment)
      environment = parts.environment.rev
      decisions = split(decideOn(rest.map(({ job }) => job)), isRepeatRefused, leave)
    }
    return { decisions, apart }
  }
  return commit()
}

/** Two round trips: draws numbers and locks those apps that nobody else writes to, then commits. */
async function flushFree(parts: FlushParts, connection: CommitConnection, jobs: Job[]): Promise<Found> {
  const count = countNumbers(jobs)
  const locked = await connection.begin({
    apps: jobs.map(({ actor }) => actor.id),
    keys: keysOf(jobs),
    count,
    ahead: connection.ids.refillSize(count),
    skipsLocked: true,
  })
  const apart: Job[] = []
  const isLost = ({ actor }: Job) => locked.heads.get(actor.id) !== actor.state.app.head_rev
  const exact = split(jobs, isLost, job => {
    learn(job.actor, locked.heads.get(job.actor.id))
    job.actor.contention.conflicted()
    apart.push(job)
  })
  const decideAll = async () => {
    await parts.environment.reach(locked.environment)
    return decideLocked(parts, connection.db, exact, locked)
  }
  const decisions = await connection.withTimeout(decideAll())
  await commitLocked(parts, connection, decisions, locked)
  return { decisions, apart }
}

/** Those for which it does not hold; the others are handed to `leave`. */
function split<One>(all: One[], isLeft: (one: One) => boolean, leave: (one: One) => void): One[] {
  return all.filter(one => {
    const isLeaving = isLeft(one)
    if (isLeaving) leave(one)
    return !isLeaving
  })
}

function isInTheWay({ apps, keys }: Conflict, { job }: Decision): boolean {
  const head = apps.get(job.actor.id)
  learn(job.actor, head)
  return head !== undefined || job.tasks.some(({ once }) => once !== undefined && keys.has(once.key.toString('hex')))
}

function learn(actor: AppActor, head = 0): void {
  actor.knownRev = Math.max(actor.knownRev, head)
}

function toKnown(decisions: Decision[]) {
  const drafts = decisions.map(({ draft }) => draft)
  return {
    moved: drafts.filter(hasMoved).map(({ base }) => base.app),
    still: drafts.filter(draft => !hasMoved(draft)).map(({ base }) => base.app),
    keys: decisions.flatMap(({ outcomes }) =>
      outcomes.flatMap(outcome => (outcome.task.once && 'result' in outcome ? [outcome.task.once.key] : [])),
    ),
  }
}

/** On the connection that holds the locks, for as long as it is the committer's. */
async function decideLocked(parts: FlushParts, db: Db, jobs: Job[], { numbers, once }: Locked): Promise<Decision[]> {
  const context = toContext(parts, jobs, parts.now(), numbers, once)
  // Together: what several of them have to load then takes one round trip. All of them come to their end: what was left
  // of one would run in the transaction after this one.
  const settled = await Promise.allSettled(
    jobs.map(async job => (isLoading(job) ? loadAndDecide(context, job, db) : decide(context, job))),
  )
  return settled.map(result => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

async function commitLocked(
  parts: FlushParts,
  connection: CommitConnection,
  decisions: Decision[],
  locked: Locked,
): Promise<void> {
  const statement = toStatement(decisions, parts.now())
  if (statement.isEmpty) await connection.rollback()
  else await connection.commit(statement, locked, decisions.filter(({ draft }) => hasMoved(draft)).length)
}

/** The jobs whose apps are there, each with its state at the rev that the lock found. Answers the others. */
async function requireExact(parts: FlushParts, db: Db, jobs: Job[], { heads }: Locked): Promise<Job[]> {
  const present = split(
    jobs,
    ({ actor }) => !heads.has(actor.id),
    ({ actor, tasks }) => {
      parts.discard(actor)
      for (const task of tasks) task.reject(AppIsGone())
    },
  )
  const moved = present.filter(({ actor }) => heads.get(actor.id) !== actor.state.app.head_rev)
  for (const job of present) {
    if (moved.includes(job)) job.actor.contention.conflicted()
    else job.actor.contention.succeeded()
  }
  if (moved.length === 0) return present
  const lost = await bringForward(parts, db, moved)
  return split(
    present,
    ({ actor }) => lost.has(actor),
    ({ actor, tasks }) => parts.discard(actor, tasks),
  )
}

/** Catches up with all apps at once; returns those whose history no longer leads there. */
async function bringForward(parts: FlushParts, db: Db, jobs: Job[]): Promise<Set<AppActor>> {
  const lost = new Set<AppActor>()
  const states = jobs.map(({ actor }) => actor.state)
  const found = await readMissed(db, states, parts.events)
  for (const { actor } of jobs) {
    const missed = found.get(actor.id) ?? null
    if (missed === null) lost.add(actor)
    else actor.bringForward(missed, parts.published)
  }
  return lost
}

function toContext(
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

function keysOf(jobs: Job[]): Buffer[] {
  return jobs.flatMap(({ tasks }) => tasks.flatMap(({ once }) => (once ? [once.key] : [])))
}

function countNumbers(jobs: Job[]): number {
  const ofTask = ({ command, input }: Task) => command.numbers?.(input) ?? 2
  return jobs.reduce((sum, { tasks }) => tasks.reduce((inner, task) => inner + ofTask(task), sum), 0)
}

/** Memory takes what was committed, and listeners hear of it. Returns what the callers are to be told. */
function conclude({ published, committed }: FlushParts, decisions: Decision[]): Outcome[] {
  const outcomes: Outcome[] = []
  for (const { job, draft, events, outcomes: own } of decisions) {
    draft.adopt()
    job.actor.knownRev = Math.max(job.actor.knownRev, job.actor.state.app.head_rev)
    for (const outcome of own) outcomes.push(outcome)
    if (events.length === 0) continue
    published(job.actor.state, events)
    committed(events)
  }
  return outcomes
}
