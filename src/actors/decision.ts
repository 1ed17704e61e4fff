import { problem } from '../lib/errors.ts'
import type { Db } from '../storage/sql.ts'
import { isRefusal, type AppActor, type OnceKey, type Task } from './app-actor.ts'
import { Work, type Numbers, type Write } from './command.ts'
import { Draft } from './draft.ts'
import type { AppEvent } from './event.ts'
import type { People } from './people.ts'
import { reviveDates } from './revive.ts'
import type { State } from './state.ts'

export const KeyReused = problem(422, 'idempotency-key-reused', 'This Idempotency-Key was used for another request.', {
  errors: { 'Idempotency-Key': ['was used for another request'] },
})

/**
 * Rows that follow from an event and are written by the same commit, such as webhook deliveries. `state` is that of the
 * app as its commands in this commit leave it.
 */
export type Follower = (event: AppEvent, state: Pick<State, 'app' | 'member' | 'members'>) => Write[]

/** One app's part of a flush. */
export interface Job {
  actor: AppActor
  tasks: Task[]
}

/** What became of a task. `isRepeat`: it was done before under the same idempotency key. */
export type Outcome = { task: Task; result: unknown; isRepeat: boolean } | { task: Task; reason: unknown }

/** What a job came to: written first; after the commit adopted, published and answered. */
export interface Decision {
  job: Job
  draft: Draft
  outcomes: Outcome[]
  events: AppEvent[]
  writes: Write[]
}

/** What all decisions of a flush have in common. */
export interface Occasion {
  followers: Follower[]
  people: People
  numbers: Numbers
  now: Date
  /** What was answered before under the idempotency keys of this flush, by the hex of the key. */
  once: Map<string, { request: Buffer; result: unknown }>
  /** There is one task in the whole flush: a bug in it concerns nobody else. */
  isAlone: boolean
}

/** Decides the tasks of a job, one on the outcome of the other. */
export function decide(occasion: Occasion, job: Job): Decision {
  const decision = begin(job)
  for (const task of job.tasks) if (!repeat(occasion, decision, task)) take(occasion, decision, task, undefined)
  return follow(occasion, decision)
}

/** The same for a job of one task that reads rows first; on `db`, the connection that holds the app's lock. */
export async function loadAndDecide(occasion: Occasion, job: Job, db: Db): Promise<Decision> {
  const decision = begin(job)
  const task = job.tasks[0]!
  if (repeat(occasion, decision, task)) return decision
  let loaded: unknown
  try {
    loaded = await task.command.load?.(db, decision.draft.app.id, task.input, task.by)
  } catch (reason) {
    fail(occasion, decision, task, reason)
    return decision
  }
  take(occasion, decision, task, loaded)
  return follow(occasion, decision)
}

function begin(job: Job): Decision {
  return { job, draft: new Draft(job.actor.state), outcomes: [], events: [], writes: [] }
}

function take(occasion: Occasion, decision: Decision, task: Task, loaded: unknown): void {
  const { people, numbers, now } = occasion
  const { command, input, by } = task
  try {
    const work = new Work({ draft: decision.draft, by, now, loaded, people, numbers })
    const result = command.decide(work, input)
    work.settle()
    for (const write of work.writes) decision.writes.push(write)
    for (const event of work.events) decision.events.push(event)
    decision.outcomes.push({ task, result, isRepeat: false })
  } catch (reason) {
    fail(occasion, decision, task, reason)
  }
}

/** A bug fails alone: the flush is repeated with this task by itself. */
function fail({ isAlone }: Occasion, decision: Decision, task: Task, reason: unknown): void {
  if (!isRefusal(reason) && !isAlone) throw reason
  decision.outcomes.push({ task, reason })
}

function follow({ followers }: Occasion, decision: Decision): Decision {
  for (const event of decision.events) {
    for (const follower of followers) for (const write of follower(event, decision.draft)) decision.writes.push(write)
  }
  return decision
}

/** Answers a task as the first one with its key was answered: in an earlier commit, or in this flush. */
function repeat({ once }: Occasion, decision: Decision, task: Task): boolean {
  const earlier = task.once && findEarlier(task.once, once, decision)
  if (earlier === undefined) return false
  decision.outcomes.push({ task, ...earlier })
  return true
}

function findEarlier({ key, request }: OnceKey, once: Occasion['once'], { outcomes }: Decision) {
  const stored = once.get(key.toString('hex'))
  if (stored !== undefined) {
    if (!stored.request.equals(request)) return { reason: KeyReused() }
    return { result: reviveDates(stored.result), isRepeat: true }
  }
  for (const outcome of outcomes) {
    if (!('result' in outcome) || !outcome.task.once?.key.equals(key)) continue
    if (!outcome.task.once.request.equals(request)) return { reason: KeyReused() }
    return { result: outcome.result, isRepeat: true }
  }
  return undefined
}
