import { firstOffset, offsets, type DrawnIds } from '../../../log/id-pool.ts'
import { IdSequence } from '../../command.ts'
import type { CommitConnection } from '../connection.ts'
import { assign, conclude } from './conclude.ts'
import { decide, type DecidedEntry, type FlushEntry } from './decide.ts'
import {
  commutes,
  countIds,
  isRepeatRefused,
  split,
  toContext,
  unlocked,
  type Flushed,
  type FlushParts,
} from './entries.ts'
import type { Expected, Moved } from './fence.ts'
import { hasMoved, isAssignable, toStatement } from './write-set.ts'

/** How often an appending statement is tried after the shared log has moved. A guess: it moves rarely. */
const attemptLimit = 3

/** The numbers of an attempt, `count` of them or none, and the time of its decisions. */
export interface Attempt {
  drawn: DrawnIds | null
  count: number
  now: Date
}

/**
 * One round trip, and one more where the shared log has moved. Commands that commute are decided with offsets, for which
 * the statement draws numbers. Null, with nothing done, where others need numbers and none are drawn.
 */
export async function flushAppending(
  parts: FlushParts,
  connection: CommitConnection,
  entries: FlushEntry[],
  attempt: Attempt,
): Promise<Flushed | null> {
  const missed: FlushEntry[] = []
  const leave = (entry: FlushEntry) => {
    entry.actor.miss()
    missed.push(entry)
  }
  const miss = ({ entry }: DecidedEntry) => leave(entry)
  let left = entries
  for (let tries = 1; left.length > 0; tries++) {
    const { decided, undecided } = decideAppending(parts, left, attempt)
    if (attempt.drawn === null && undecided.length > 0) return null
    undecided.forEach(leave)
    // If a refused command with a key is a repeat, the lock step finds the first result.
    const decisions = split(decided, isRepeatRefused, miss)
    const expected = toExpected(parts, decisions, attempt)
    const statement = toStatement(decisions, attempt.now, 'append')
    const appended = await connection.commitAppending(statement, expected, attempt.now)
    if (appended?.holds) {
      const isMissed = ({ draft }: DecidedEntry) =>
        !(hasMoved(draft) ? appended.held : appended.still).has(draft.app.id)
      const written = split(decisions, isMissed, miss)
      for (const decision of written) assign(decision, appended.held.get(decision.draft.app.id))
      const { results, hasNews } = conclude(parts, written)
      if (hasNews || missed.length > 0) connection.collide()
      return { results, missed, lost: [] }
    }
    const rest = split(decisions, decision => appended === null || hasStored(decision, appended.keys), miss)
    // Nothing to leave out explains it: the numbers are too old.
    if (tries === attemptLimit || (appended!.sharedRev === expected.sharedRev && rest.length === decisions.length)) {
      rest.forEach(miss)
      break
    }
    await parts.sharedLog.catchUpTo(appended!.sharedRev)
    left = rest.map(({ entry }) => entry)
  }
  return { results: [], missed, lost: [] }
}

/**
 * Decides entries without locks: with offsets where all commands commute; with numbers, if there are any, where the commit
 * is to find the app as it was decided on.
 */
function decideAppending(
  parts: FlushParts,
  entries: FlushEntry[],
  { drawn, now }: Attempt,
): { decided: DecidedEntry[]; undecided: FlushEntry[] } {
  const context = toContext(parts, entries, now, { ids: drawn?.ids ?? [], ...unlocked })
  const decided: DecidedEntry[] = []
  const undecided: FlushEntry[] = []
  for (const entry of entries) {
    const appended = mayAppend(entry) ? decide({ ...context, ids: new IdSequence(offsets) }, entry) : null
    if (appended !== null && isAssignable(appended)) decided.push(appended)
    else if (drawn !== null && !entry.actor.isBehind) decided.push(decide(context, entry))
    else undecided.push(entry)
  }
  return { decided, undecided }
}

/** True where all commands commute, and there are offsets enough for them. */
function mayAppend(entry: FlushEntry): boolean {
  return commutes(entry) && countIds([entry]) <= offsets.length
}

function hasStored({ entry }: DecidedEntry, keys: ReadonlySet<string>): boolean {
  return entry.commands.some(
    ({ idempotencyKey }) => idempotencyKey !== undefined && keys.has(idempotencyKey.key.toString('hex')),
  )
}

export function toExpected({ sharedLog }: FlushParts, decisions: DecidedEntry[], { drawn, count }: Attempt): Expected {
  return {
    moved: decisions.filter(({ draft }) => hasMoved(draft)).map(toMoved),
    unmoved: decisions.filter(({ draft }) => !hasMoved(draft)).map(({ draft }) => draft.base.app),
    keys: decisions.flatMap(({ results }) =>
      results.flatMap(result =>
        result.pending.idempotencyKey && 'result' in result ? [result.pending.idempotencyKey.key] : [],
      ),
    ),
    sharedRev: sharedLog.rev,
    drawnAtMs: drawn?.atMs ?? null,
    count,
  }
}

function toMoved({ draft, first }: DecidedEntry): Moved {
  const { app, base } = draft
  const { id, head_rev, guard_rev } = base.app
  return {
    id,
    head_rev,
    guard_rev: isOffset(first) ? guard_rev : null,
    first,
    last: app.head_rev,
    made: app.made_count - base.app.made_count,
  }
}

function isOffset(number: number): boolean {
  return number >= firstOffset
}
