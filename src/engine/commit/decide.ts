import type { Db } from '../../postgres/sql.ts'
import { isRefusal, type AppActor, type PendingCommand } from '../app-actor.ts'
import { Work, type IdSequence, type Write } from '../command.ts'
import { Draft } from '../draft.ts'
import type { AppEvent } from '../event.ts'
import type { UserCache } from '../../auth/user-cache.ts'
import type { IdempotencyKey } from '../../api/idempotency-key.ts'
import type { Reply } from './reply-queue.ts'
import { findEarlier, requireSameRequest, type StoredResults } from './idempotency.ts'
import type { State } from '../state.ts'

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

/** What became of a command. `isRepeat`: it was done before under its idempotency key. */
export type CommandResult = Reply & { isRepeat?: boolean }

/** What an entry came to: written first; after the commit adopted, published and answered. */
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
  userCache: UserCache
  ids: IdSequence
  now: Date
  /** What was committed before under the idempotency keys of this flush. */
  storedResults: StoredResults
  /** There is one command in the whole flush: a bug in it concerns no other. */
  isAlone: boolean
}

/** Decides the commands of an entry, each on the outcome of the one before. */
export function decide(context: FlushContext, entry: FlushEntry): DecidedEntry {
  const decision = begin(entry)
  for (const pending of entry.commands)
    if (!answerRepeat(context, decision, pending)) run(context, decision, pending, undefined)
  return project(context, decision)
}

/**
 * As `decide`, for an entry of one command that reads rows first; on `db`, the connection that holds the app's lock.
 */
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
  const { userCache, ids, now } = context
  const { command, input, by } = pending
  try {
    const work = new Work({ draft: decision.draft, by, now, loaded, userCache, ids })
    const result = command.decide(work, input)
    work.applyEvents()
    for (const write of work.writes) decision.writes.push(write)
    for (const event of work.events) decision.events.push(event)
    decision.results.push({ pending, result })
  } catch (reason) {
    fail(context, decision, pending, reason)
  }
}

/** A bug fails alone: the flush is repeated with this command by itself. */
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

/** Gives a command what the first one with its key came to: in an earlier commit, or in this flush. */
function answerRepeat({ storedResults }: FlushContext, decision: DecidedEntry, pending: PendingCommand): boolean {
  const { idempotencyKey } = pending
  if (idempotencyKey === undefined) return false
  try {
    const earlier = findEarlier(idempotencyKey, storedResults) ?? findInFlush(idempotencyKey, decision)
    if (earlier !== undefined) decision.results.push({ pending, result: earlier.result, isRepeat: true })
    return earlier !== undefined
  } catch (reason) {
    decision.results.push({ pending, reason })
    return true
  }
}

function findInFlush({ key, request }: IdempotencyKey, { results }: DecidedEntry): { result: unknown } | undefined {
  for (const result of results) {
    const other = result.pending.idempotencyKey
    if (!('result' in result) || !other?.key.equals(key)) continue
    requireSameRequest(other.request, request)
    return result
  }
  return undefined
}
