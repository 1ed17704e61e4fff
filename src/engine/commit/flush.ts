import { problem } from '../../lib/errors.ts'
import type { Db, Sql } from '../../postgres/sql.ts'
import type { AppActor, PendingCommand } from '../app-actor.ts'
import { readMissed, type EventTypes } from '../catch-up.ts'
import { IdSequence } from '../command.ts'
import type { CommitConnection, Conflict, Locked } from './connection.ts'
import {
  decide,
  loadAndDecide,
  type DecidedEntry,
  type SameCommitProjection,
  type FlushEntry,
  type FlushContext,
  type CommandResult,
} from './decide.ts'
import type { DrawnIds } from '../../log/id-pool.ts'
import type { SharedLog } from '../../log/shared-log.ts'
import type { AppEvent } from '../event.ts'
import type { AppState } from '../state.ts'
import type { UserCache } from '../../auth/user-cache.ts'
import { hasMoved, toStatement } from './write-set.ts'

const AppIsGone = problem(404, 'not-found', 'There is no such app, or it is not visible to you.')

export interface FlushParts {
  /** For reads outside of the commits' transactions. */
  sql: Sql
  sharedLog: SharedLog
  userCache: UserCache
  events: EventTypes
  projections: SameCommitProjection[]
  /** Called when the state of an app has the events of a commit. */
  published: (state: AppState, events: readonly AppEvent[]) => void
  /** Called after a commit of this node with the new events of an app, for other nodes. */
  committed: (events: AppEvent[]) => void
  /** True where listeners need all events of an app. */
  isFollowed: (app: number) => boolean
  now: () => Date
}

/** The outcome of a flush. Each command has a result, or was not run for one of two reasons. */
export interface Flushed {
  results: CommandResult[]
  /** Entries of contended apps, which are to be committed apart from others. */
  apart: FlushEntry[]
  /**
   * Entries whose state must be loaded again: see `readMissed`. The commands are for a new actor; there are none where
   * the app is gone.
   */
  lost: FlushEntry[]
}

/** How often a flush is tried without the entries in conflict. A guess: the second attempt nearly always succeeds. */
const attemptLimit = 4

/**
 * One group commit: decides each command on the exact state of its app, writes all rows in one statement, commits, and
 * then applies and publishes the events. Rejects with OutcomeUnknown where the commit may have happened; with any other
 * error nothing was written, and a transaction may have to be rolled back.
 *
 * Usually no other node writes to the apps, so commands are decided on the state in memory, and the statement checks
 * that the state is current. An app whose state is not, or to which another node is writing, is left out, and the
 * others commit at once: a group commit never waits for commits of other nodes.
 */
export async function flush(parts: FlushParts, connection: CommitConnection, entries: FlushEntry[]): Promise<Flushed> {
  const count = countIds(entries)
  const drawn = connection.ids.take(count, Math.max(...entries.map(({ actor }) => actor.state.app.head_rev)))
  const { decisions, apart } = await (drawn === null
    ? flushFree(parts, connection, entries, count)
    : flushOptimistic(parts, connection, entries, { drawn, count }))
  for (const { entry } of decisions) entry.actor.contention.succeeded()
  return { results: conclude(parts, decisions), apart, lost: [] }
}

/**
 * Commits entries that could delay others: of contended apps, or commands that load rows first, one of each app. Reads
 * the events that the states have missed, then waits for the locks of the apps. Rejects as `flush` does.
 */
export async function flushApart(
  parts: FlushParts,
  connection: CommitConnection,
  entries: FlushEntry[],
): Promise<Flushed> {
  const behind = entries.filter(({ actor }) => actor.isBehind)
  if (behind.length === 0) return flushLocked(parts, connection, entries)
  const wrong = await bringForward(parts, parts.sql, behind)
  const rest = entries.filter(({ actor }) => !wrong.has(actor))
  const lost = entries.filter(({ actor }) => wrong.has(actor))
  if (rest.length === 0) return { results: [], apart: [], lost }
  const flushed = await flushLocked(parts, connection, rest)
  return { ...flushed, lost: [...lost, ...flushed.lost] }
}

/** Waits for the locks of the apps, and commits what is then decided on their exact states. */
async function flushLocked(parts: FlushParts, connection: CommitConnection, entries: FlushEntry[]): Promise<Flushed> {
  const count = countIds(entries)
  const isLoadingAny = entries.some(isLoading)
  const locked = await connection.begin({
    apps: entries.map(({ actor }) => actor.id),
    keys: keysOf(entries),
    count,
    ahead: isLoadingAny ? 0 : connection.ids.refillSize(count),
  })
  const decideAll = async () => {
    await parts.sharedLog.catchUpTo(locked.sharedRev)
    const found = await findExact(parts, connection.db, entries, locked)
    return { ...found, decisions: await decideLocked(parts, connection.db, found.exact, locked) }
  }
  const { decisions, gone, lost } = await connection.withTimeout(decideAll())
  await commitLocked(parts, connection, decisions, locked)
  const refused = gone.flatMap(({ commands }) => commands.map(pending => ({ pending, reason: AppIsGone() })))
  return {
    results: [...refused, ...conclude(parts, decisions)],
    apart: [],
    lost: [...lost, ...gone.map(({ actor }) => ({ actor, commands: [] }))],
  }
}

interface Found {
  decisions: DecidedEntry[]
  apart: FlushEntry[]
}

/** One round trip, and one more for each conflict. `drawn`: the numbers to use, `count` of them. */
async function flushOptimistic(
  parts: FlushParts,
  connection: CommitConnection,
  entries: FlushEntry[],
  { drawn, count }: { drawn: DrawnIds; count: number },
): Promise<Found> {
  const now = parts.now()
  const decideOn = (entries: FlushEntry[]) => {
    const context = toContext(parts, entries, now, drawn.ids, new Map())
    return entries.map(entry => decide(context, entry))
  }
  const apart: FlushEntry[] = []
  const leave = ({ entry }: DecidedEntry) => {
    entry.actor.contention.conflicted()
    apart.push(entry)
  }
  let sharedRev = parts.sharedLog.rev
  let decisions = split(decideOn(entries), isRepeatRefused, leave)
  for (let attempt = 1; decisions.length > 0; attempt++) {
    const conflict = await connection.commitOptimistic(toStatement(decisions, now), {
      ...toExpected(decisions),
      sharedRev,
      drawnAtMs: drawn.atMs,
      count,
    })
    if (conflict === null) break
    const isStale = conflict.sharedRev !== sharedRev
    const rest = split(decisions, decision => isInTheWay(conflict, decision), leave)
    // No entry to leave out explains the conflict: another race, or numbers that are too old.
    if (attempt === attemptLimit || (rest.length === decisions.length && !isStale)) {
      rest.forEach(leave)
      return { decisions: [], apart }
    }
    decisions = rest
    if (!isStale) continue
    // The shared log has moved: all commands are decided again, with the same numbers.
    await parts.sharedLog.catchUpTo(conflict.sharedRev)
    sharedRev = parts.sharedLog.rev
    decisions = split(decideOn(rest.map(({ entry }) => entry)), isRepeatRefused, leave)
  }
  return { decisions, apart }
}

/** Two round trips: draws numbers and locks the apps that no other node has locked, then commits. */
async function flushFree(
  parts: FlushParts,
  connection: CommitConnection,
  entries: FlushEntry[],
  count: number,
): Promise<Found> {
  const locked = await connection.begin({
    apps: entries.map(({ actor }) => actor.id),
    keys: keysOf(entries),
    count,
    ahead: connection.ids.refillSize(count),
    skipsLocked: true,
  })
  const apart: FlushEntry[] = []
  const isLost = ({ actor }: FlushEntry) => locked.heads.get(actor.id) !== actor.state.app.head_rev
  const exact = split(entries, isLost, entry => {
    learn(entry.actor, locked.heads.get(entry.actor.id))
    entry.actor.contention.conflicted()
    apart.push(entry)
  })
  const decideAll = async () => {
    await parts.sharedLog.catchUpTo(locked.sharedRev)
    return decideLocked(parts, connection.db, exact, locked)
  }
  const decisions = await connection.withTimeout(decideAll())
  await commitLocked(parts, connection, decisions, locked)
  return { decisions, apart }
}

/** Returns the items for which `isLeft` is false, and calls `leave` with each of the others. */
function split<One>(all: One[], isLeft: (one: One) => boolean, leave: (one: One) => void): One[] {
  return all.filter(one => {
    const isLeaving = isLeft(one)
    if (isLeaving) leave(one)
    return !isLeaving
  })
}

function isInTheWay({ apps, keys }: Conflict, { entry }: DecidedEntry): boolean {
  const head = apps.get(entry.actor.id)
  learn(entry.actor, head)
  return (
    head !== undefined ||
    entry.commands.some(
      ({ idempotencyKey }) => idempotencyKey !== undefined && keys.has(idempotencyKey.key.toString('hex')),
    )
  )
}

function learn(actor: AppActor, head = 0): void {
  actor.knownRev = Math.max(actor.knownRev, head)
}

function toExpected(decisions: DecidedEntry[]) {
  const drafts = decisions.map(({ draft }) => draft)
  return {
    moved: drafts.filter(hasMoved).map(({ base }) => base.app),
    unmoved: drafts.filter(draft => !hasMoved(draft)).map(({ base }) => base.app),
    keys: decisions.flatMap(({ results }) =>
      results.flatMap(result =>
        result.pending.idempotencyKey && 'result' in result ? [result.pending.idempotencyKey.key] : [],
      ),
    ),
  }
}

/** Decides entries under their locks. `db`: the connection that holds these. */
async function decideLocked(
  parts: FlushParts,
  db: Db,
  entries: FlushEntry[],
  { ids, storedResults }: Locked,
): Promise<DecidedEntry[]> {
  const context = toContext(parts, entries, parts.now(), ids, storedResults)
  // At one time, so that the loads of several commands take one round trip. All are awaited even if one fails: its rest
  // would run in the next transaction of the connection.
  const settled = await Promise.allSettled(
    entries.map(async entry => (isLoading(entry) ? loadAndDecide(context, entry, db) : decide(context, entry))),
  )
  return settled.map(result => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

async function commitLocked(
  parts: FlushParts,
  connection: CommitConnection,
  decisions: DecidedEntry[],
  locked: Locked,
): Promise<void> {
  const statement = toStatement(decisions, parts.now())
  if (statement.isEmpty) await connection.rollback()
  else await connection.commit(statement, locked, decisions.filter(({ draft }) => hasMoved(draft)).length)
}

/**
 * Divides entries by their states under the lock: exact, perhaps after a catch-up; app gone; or lost, see `Flushed`.
 */
async function findExact(
  parts: FlushParts,
  db: Db,
  entries: FlushEntry[],
  { heads }: Locked,
): Promise<{ exact: FlushEntry[]; gone: FlushEntry[]; lost: FlushEntry[] }> {
  const [gone, lost]: [FlushEntry[], FlushEntry[]] = [[], []]
  const present = split(
    entries,
    ({ actor }) => !heads.has(actor.id),
    entry => gone.push(entry),
  )
  const moved = present.filter(({ actor }) => heads.get(actor.id) !== actor.state.app.head_rev)
  for (const entry of present) {
    if (moved.includes(entry)) entry.actor.contention.conflicted()
    else entry.actor.contention.succeeded()
  }
  if (moved.length === 0) return { exact: present, gone, lost }
  const wrong = await bringForward(parts, db, moved)
  const exact = split(
    present,
    ({ actor }) => wrong.has(actor),
    entry => lost.push(entry),
  )
  return { exact, gone, lost }
}

/** Applies what the states have missed. Returns the actors whose state must be loaded again. */
async function bringForward(parts: FlushParts, db: Db, entries: FlushEntry[]): Promise<Set<AppActor>> {
  const lost = new Set<AppActor>()
  const states = entries.map(({ actor }) => actor.state)
  const found = await readMissed(db, states, { types: parts.events, isFollowed: parts.isFollowed })
  for (const { actor } of entries) {
    const missed = found.get(actor.id) ?? null
    if (missed === null) lost.add(actor)
    else actor.catchUp(missed, parts.published)
  }
  return lost
}

function toContext(
  { projections, userCache }: FlushParts,
  entries: FlushEntry[],
  now: Date,
  ids: number[],
  storedResults: FlushContext['storedResults'],
): FlushContext {
  const isAlone = entries.length === 1 && entries[0]!.commands.length === 1
  return { projections, userCache, ids: new IdSequence(ids), now, storedResults, isAlone }
}

/**
 * True where a command with an idempotency key was refused. If it is a repeat, the lock step finds the first result.
 */
function isRepeatRefused({ results }: DecidedEntry): boolean {
  return results.some(result => 'reason' in result && result.pending.idempotencyKey !== undefined)
}

function isLoading({ commands }: FlushEntry): boolean {
  return commands[0]!.command.load !== undefined
}

function keysOf(entries: FlushEntry[]): Buffer[] {
  return entries.flatMap(({ commands }) =>
    commands.flatMap(({ idempotencyKey }) => (idempotencyKey ? [idempotencyKey.key] : [])),
  )
}

function countIds(entries: FlushEntry[]): number {
  const idsOf = ({ command, input }: PendingCommand) => command.maxIds?.(input) ?? 2
  return entries.reduce((sum, { commands }) => commands.reduce((inner, pending) => inner + idsOf(pending), sum), 0)
}

/** Applies the committed drafts to the states and publishes the events. Returns the results for the callers. */
function conclude({ published, committed }: FlushParts, decisions: DecidedEntry[]): CommandResult[] {
  const results: CommandResult[] = []
  for (const { entry, draft, events, results: own } of decisions) {
    draft.adopt()
    entry.actor.knownRev = Math.max(entry.actor.knownRev, entry.actor.state.app.head_rev)
    for (const result of own) results.push(result)
    if (events.length === 0) continue
    published(entry.actor.state, events)
    committed(events)
  }
  return results
}
