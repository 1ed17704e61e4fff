import { Problem } from '../../../lib/errors.ts'
import type { Db } from '../../../postgres/sql.ts'
import type { AppActor, PendingCommand } from '../../app-actor.ts'
import { Work, type IdSequence, type Write } from '../../command.ts'
import { Draft } from '../../draft.ts'
import type { AppEvent } from '../../event.ts'
import type { UserCache } from '../../../auth/user-cache.ts'
import type { IdempotencyKey } from '../../../api/idempotency-key.ts'
import type { Reply } from '../reply-queue.ts'
import { findEarlier, requireSameRequest, type StoredResults } from '../idempotency.ts'
import type { State } from '../../state.ts'
import type { Head } from '../../store.ts'

/**
 * Returns rows to be written in the commit of an event, such as webhook deliveries. `state` is the app's state after
 * all of its commands in this commit.
 */
export type SameCommitProjection = (event: AppEvent, state: Pick<State, 'app' | 'member' | 'members'>) => Write[]

/** The commands of one app in a flush. */
export interface FlushEntry {
  actor: AppActor
  commands: PendingCommand[]
}

/** The outcome of a command. `isRepeat`: the result is that of an earlier command with the same idempotency key. */
export type CommandResult = Reply & { isRepeat?: boolean }

/**
 * The outcome of an entry. Its rows are written; after the commit its draft is adopted, and its events are published.
 */
export interface DecidedEntry {
  entry: FlushEntry
  draft: Draft
  /** The first number, or offset, that its items and events may have. */
  first: number
  results: CommandResult[]
  events: AppEvent[]
  writes: Write[]
}

/** The context that all decisions of a flush share. */
export interface FlushContext {
  projections: SameCommitProjection[]
  userCache: UserCache
  ids: IdSequence
  now: Date
  /** App id → where the app is, as far as apps are locked. */
  heads: ReadonlyMap<number, Head>
  /** The results that were committed before under the idempotency keys of this flush. */
  storedResults: StoredResults
  /** True where the flush has one command, so that a bug in it affects no other. */
  isAlone: boolean
}

/** Decides the commands of an entry, each on the state that the command before it leaves. */
export function decide(context: FlushContext, entry: FlushEntry): DecidedEntry {
  const decision = begin(context, entry)
  for (const pending of entry.commands)
    if (!answerRepeat(context, decision, pending)) run(context, decision, pending, undefined)
  return project(context, decision)
}

/** As `decide`, for an entry of one command that loads rows first. `db`: the connection that holds the app's lock. */
export async function loadAndDecide(context: FlushContext, entry: FlushEntry, db: Db): Promise<DecidedEntry> {
  const decision = begin(context, entry)
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

function begin({ ids, heads }: FlushContext, entry: FlushEntry): DecidedEntry {
  const { state } = entry.actor
  const draft = new Draft(state, heads.get(state.app.id)?.head_at)
  return { entry, draft, first: ids.first, results: [], events: [], writes: [] }
}

function run(context: FlushContext, decision: DecidedEntry, pending: PendingCommand, loaded: unknown): void {
  const { userCache, ids, now } = context
  const { command, input, by } = pending
  try {
    const key = pending.idempotencyKey?.sent ?? null
    const work = new Work({ draft: decision.draft, by, now, loaded, userCache, ids, key })
    const result = command.decide(work, input)
    work.applyEvents()
    for (const write of work.writes) decision.writes.push(write)
    for (const event of work.events) decision.events.push(event)
    const last = work.events.at(-1)
    if (last === undefined) by.place?.found(decision.entry.actor.state.app)
    decision.results.push({ pending, result, last })
  } catch (reason) {
    fail(context, decision, pending, reason)
  }
}

/**
 * Records a refusal. A bug is thrown instead, unless the command is alone: the flush is then repeated command by
 * command.
 */
function fail({ isAlone }: FlushContext, decision: DecidedEntry, pending: PendingCommand, reason: unknown): void {
  if (!(reason instanceof Problem) && !isAlone) throw reason
  decision.results.push({ pending, reason })
}

function project({ projections }: FlushContext, decision: DecidedEntry): DecidedEntry {
  for (const event of decision.events) {
    for (const projection of projections)
      for (const write of projection(event, decision.draft)) decision.writes.push(write)
  }
  return decision
}

/** Answers a command as the first command with its idempotency key, if there was one before or in this flush. */
function answerRepeat({ storedResults }: FlushContext, decision: DecidedEntry, pending: PendingCommand): boolean {
  const { idempotencyKey } = pending
  if (idempotencyKey === undefined) return false
  try {
    const earlier = findEarlier(idempotencyKey, storedResults) ?? findInFlush(idempotencyKey, decision)
    if (earlier === undefined) return false
    pending.by.place?.repeated()
    decision.results.push({ pending, ...earlier, isRepeat: true })
    return true
  } catch (reason) {
    decision.results.push({ pending, reason })
    return true
  }
}

function findInFlush(
  { key, request }: IdempotencyKey,
  { results }: DecidedEntry,
): { result: unknown; last?: AppEvent | undefined } | undefined {
  for (const result of results) {
    const other = result.pending.idempotencyKey
    if (!('result' in result) || !other?.key.equals(key)) continue
    requireSameRequest(other.request, request)
    return { result: result.result, last: result.last }
  }
  return undefined
}
