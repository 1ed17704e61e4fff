import type { UserCache } from '../../../auth/user-cache.ts'
import type { SharedLog } from '../../../log/shared-log.ts'
import type { Db, Sql } from '../../../postgres/sql.ts'
import type { AppActor, PendingCommand } from '../../app-actor.ts'
import { readMissed, type EventTypes } from '../../catch-up.ts'
import { IdSequence } from '../../command.ts'
import type { AppEvent, CommitListener } from '../../event.ts'
import type { Locked } from '../connection.ts'
import type { CommandResult, DecidedEntry, FlushContext, FlushEntry, SameCommitProjection } from './decide.ts'

export interface FlushParts {
  /** For reads outside of the commits' transactions. */
  sql: Sql
  sharedLog: SharedLog
  userCache: UserCache
  events: EventTypes
  projections: SameCommitProjection[]
  published: CommitListener
  /** Called after a commit of this node with the new events of an app, for other nodes. */
  committed: (events: AppEvent[]) => void
  /** True where listeners need all events of an app. */
  isFollowed: (app: number) => boolean
  now: () => Date
}

/** The outcome of a flush. Each command has a result, or was not run for one of two reasons. */
export interface Flushed {
  results: CommandResult[]
  /** Entries that are to be committed again, as another node was faster or is at work. */
  missed: FlushEntry[]
  /**
   * Entries whose state must be loaded again: see `readMissed`. The commands are for a new actor; there are none where
   * the app is gone.
   */
  lost: FlushEntry[]
}

export function toContext(
  { projections, userCache }: FlushParts,
  entries: FlushEntry[],
  now: Date,
  { ids, storedResults, heads }: Pick<Locked, 'ids' | 'storedResults' | 'heads'>,
): FlushContext {
  const isAlone = entries.length === 1 && entries[0]!.commands.length === 1
  return { projections, userCache, ids: new IdSequence(ids), now, storedResults, heads, isAlone }
}

/** What is known without locks. */
export const unlocked = { storedResults: new Map<string, never>(), heads: new Map<number, never>() }

/** Applies what the states have missed. Returns the actors whose state must be loaded again. */
export async function bringForward(parts: FlushParts, db: Db, entries: FlushEntry[]): Promise<Set<AppActor>> {
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

/**
 * True where a command with an idempotency key was refused. If it is a repeat, the lock step finds the first result.
 */
export function isRepeatRefused({ results }: DecidedEntry): boolean {
  return results.some(result => 'reason' in result && result.pending.idempotencyKey !== undefined)
}

export function isLoading({ commands }: FlushEntry): boolean {
  return commands[0]!.command.load !== undefined
}

/** True where all commands of an entry may be decided on a state that lacks the newest events. */
export function commutes({ commands }: FlushEntry): boolean {
  return commands.every(({ command }) => command.commutes === true)
}

export function keysOf(entries: FlushEntry[]): Buffer[] {
  return entries.flatMap(({ commands }) =>
    commands.flatMap(({ idempotencyKey }) => (idempotencyKey ? [idempotencyKey.key] : [])),
  )
}

export function countIds(entries: FlushEntry[]): number {
  const idsOf = ({ command, input }: PendingCommand) => command.maxIds?.(input) ?? 2
  return entries.reduce((sum, { commands }) => commands.reduce((inner, pending) => inner + idsOf(pending), sum), 0)
}

/** Returns the items for which `isLeft` is false, and calls `leave` with each of the others. */
export function split<One>(all: One[], isLeft: (one: One) => boolean, leave: (one: One) => void): One[] {
  return all.filter(one => {
    const isLeaving = isLeft(one)
    if (isLeaving) leave(one)
    return !isLeaving
  })
}
