import type { CommitConnection } from '../connection.ts'
import { flushAppending, toExpected, type Attempt } from './appending.ts'
import { conclude } from './conclude.ts'
import { decide, type DecidedEntry, type FlushEntry } from './decide.ts'
import {
  bringForward,
  commutes,
  countIds,
  isRepeatRefused,
  split,
  toContext,
  unlocked,
  type Flushed,
  type FlushParts,
} from './entries.ts'
import type { DrawnIds } from '../../../log/id-pool.ts'
import { flushLocked } from './locked.ts'
import { toStatement } from './write-set.ts'

/**
 * One group commit: decides each command on the state in memory, writes all rows in one statement, commits, and then
 * applies and publishes the events. Rejects with OutcomeUnknown where the commit may have happened; with any other error
 * nothing was written, and a transaction may have to be rolled back.
 *
 * Usually no other node writes to the apps: the statement expects all of them as they were, and takes no locks. Where
 * others write to them too, it appends: an app has moved on meanwhile and that is no obstacle for commands that commute.
 * An app that another node is writing to at this moment, or whose commands depend on what it has become, is missed, and
 * the others commit at once: a group commit never waits for commits of other nodes.
 */
export async function flush(parts: FlushParts, connection: CommitConnection, entries: FlushEntry[]): Promise<Flushed> {
  const count = countIds(entries)
  const drawn = connection.ids.take(count, Math.max(...entries.map(({ actor }) => actor.knownRev)))
  const attempt = { drawn, count, now: parts.now() }
  if (drawn !== null && !connection.appends && !entries.some(({ actor }) => actor.isBehind)) {
    const decisions = decideOn(parts, entries, { ...attempt, drawn })
    if (!decisions.some(isRepeatRefused)) {
      const expected = toExpected(parts, decisions, attempt)
      if (await connection.commitExact(toStatement(decisions, attempt.now, 'exact'), expected))
        return { results: conclude(parts, decisions).results, missed: [], lost: [] }
    }
  }
  return (
    (await flushAppending(parts, connection, entries, attempt)) ??
    flushLocked(parts, connection, entries, { skipsLocked: true })
  )
}

/**
 * Commits entries that could delay others: of apps that were missed, or commands that load rows first, one of each app.
 * Reads the events that the states have missed, then waits for the locks of the apps. Rejects as `flush` does.
 */
export async function flushApart(
  parts: FlushParts,
  connection: CommitConnection,
  entries: FlushEntry[],
): Promise<Flushed> {
  const behind = entries.filter(entry => entry.actor.isBehind && !commutes(entry))
  if (behind.length === 0) return flushLocked(parts, connection, entries)
  const wrong = await bringForward(parts, parts.sql, behind)
  const lost: FlushEntry[] = []
  const rest = split(
    entries,
    ({ actor }) => wrong.has(actor),
    entry => lost.push(entry),
  )
  if (rest.length === 0) return { results: [], missed: [], lost }
  const flushed = await flushLocked(parts, connection, rest)
  return { ...flushed, lost: [...lost, ...flushed.lost] }
}

/** Decides entries without locks. */
function decideOn(
  parts: FlushParts,
  entries: FlushEntry[],
  { drawn, now }: Attempt & { drawn: DrawnIds },
): DecidedEntry[] {
  const context = toContext(parts, entries, now, { ids: drawn.ids, ...unlocked })
  return entries.map(entry => decide(context, entry))
}
