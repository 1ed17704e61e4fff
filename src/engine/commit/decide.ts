import { problem } from '../../lib/errors.ts'
import type { Db } from '../../postgres/sql.ts'
import { isRefusal, type AppActor, type IdempotencyKey, type PendingCommand } from '../app-actor.ts'
import { Work, type IdSequence, type Write } from '../command.ts'
import { Draft } from '../draft.ts'
import type { AppEvent } from '../event.ts'
import type { People } from '../../auth/user-cache.ts'
import { reviveDates } from './revive.ts'
import type { State } from '../state.ts'

export const KeyReused = problem(422, 'idempotency-key-reused', 'This Idempotency-Key was used for another request.', {
  errors: { 'Idempotency-Key': ['was used for another request'] },
})

/**
 * Rows that follow from an event and are written by the same commit, such as webhook deliveries. `state` is that of the
 * app as its commands in this commit leave it.
 */
export type SameCommitProjection = (event: AppEvent, state: Pick<State, 'app' | 'member' | 'members'>) => Write[]

/** One app's part of a flush. */
export interface FlushEntry {
  actor: AppActor
  commands: PendingCommand[]
}

/** What became of a task. `isRepeat`: it was done before under the same idempotency key. */
export type CommandResult =
  { pending: PendingCommand; result: unknown; isRepeat: boolean } | { pending: PendingCommand; reason: unknown }

/** What a job came to: written first; after the commit adopted, published and answered. */
export interface DecidedEntry {
  entry: FlushEntry
  draft: Draft
  results: CommandResult[]
  events: AppEvent[]
  writes: Write[]
}

/** What all decisions of a flush have in common. */
export interface FlushContext {
  projections: SameCommitProjection[]
  people: People
  ids: IdSequence
  now: Date
  /** What was answered before under the idempotency keys of this flush, by the hex of the key. */
  storedResults: Map<string, { request: Buffer; result: unknown }>
  /** There is one task in the whole flush: a bug in it concerns nobody else. */
  isAlone: boolean
}

/** Decides the tasks of a job, one on the outcome of the other. */
export function decide(context: FlushContext, entry: FlushEntry): DecidedEntry {
  const decision = begin(entry)
  for (const pending of entry.commands)
    if (!answerRepeat(context, decision, pending)) run(context, decision, pending, undefined)
  return project(context, decision)
}

/** The same for a job of one task that reads rows first; on `db`, the connection that holds the app's lock. */
export async function loadAndDecide(context: FlushContext, entry: FlushEntry, db: Db): Promise<DecidedEntry> {
  const decision = begin(entry)
  const pending = entry.commands[0]!
  if (answerRepeat(context, decision, pending)) return decision
  let loaded: unknown
  try {
    loaded = await pending.command.load?.(db, decision.draft.app.id, pending.input, pending.by)
  } catch (reason) {
    fail(context, decision, pending, reason)
    return decision
  }
  run(context, decision, pending, loaded)
  return project(context, decision)
}

function begin(entry: FlushEntry): DecidedEntry {
  return { entry, draft: new Draft(entry.actor.state), results: [], events: [], writes: [] }
}

function run(context: FlushContext, decision: DecidedEntry, pending: PendingCommand, loaded: unknown): void {
  const { people, ids, now } = context
  const { command, input, by } = pending
  try {
    const work = new Work({ draft: decision.draft, by, now, loaded, people, ids })
    const result = command.decide(work, input)
    work.applyEvents()
    for (const write of work.writes) decision.writes.push(write)
    for (const event of work.events) decision.events.push(event)
    decision.results.push({ pending, result, isRepeat: false })
  } catch (reason) {
    fail(context, decision, pending, reason)
  }
}

/** A bug fails alone: the flush is repeated with this task by itself. */
function fail({ isAlone }: FlushContext, decision: DecidedEntry, pending: PendingCommand, reason: unknown): void {
  if (!isRefusal(reason) && !isAlone) throw reason
  decision.results.push({ pending, reason })
}

function project({ projections }: FlushContext, decision: DecidedEntry): DecidedEntry {
  for (const event of decision.events) {
    for (const projection of projections)
      for (const write of projection(event, decision.draft)) decision.writes.push(write)
  }
  return decision
}

/** Answers a task as the first one with its key was answered: in an earlier commit, or in this flush. */
function answerRepeat({ storedResults }: FlushContext, decision: DecidedEntry, pending: PendingCommand): boolean {
  const earlier = pending.idempotencyKey && findEarlier(pending.idempotencyKey, storedResults, decision)
  if (earlier === undefined) return false
  decision.results.push({ pending, ...earlier })
  return true
}

function findEarlier(
  { key, request }: IdempotencyKey,
  storedResults: FlushContext['storedResults'],
  { results }: DecidedEntry,
) {
  const stored = storedResults.get(key.toString('hex'))
  if (stored !== undefined) {
    if (!stored.request.equals(request)) return { reason: KeyReused() }
    return { result: reviveDates(stored.result), isRepeat: true }
  }
  for (const result of results) {
    if (!('result' in result) || !result.pending.idempotencyKey?.key.equals(key)) continue
    if (!result.pending.idempotencyKey.request.equals(request)) return { reason: KeyReused() }
    return { result: result.result, isRepeat: true }
  }
  return undefined
}
