import { problem } from '../../../lib/errors.ts'
import type { Db } from '../../../postgres/sql.ts'
import { blockSize } from '../../state.ts'
import type { CommitConnection, Locked } from '../connection.ts'
import { assign, conclude } from './conclude.ts'
import { decide, loadAndDecide, type DecidedEntry, type FlushEntry } from './decide.ts'
import {
  bringForward,
  commutes,
  countIds,
  isLoading,
  keysOf,
  split,
  toContext,
  type Flushed,
  type FlushParts,
} from './entries.ts'
import { hasMoved, isBoundToHead, toStatement } from './write-set.ts'

const AppIsGone = problem(404, 'not-found', 'There is no such app, or it is not visible to you.')

/**
 * Locks the apps and draws numbers, decides on what the apps then are, and commits. `skipsLocked`: without waiting for
 * locks, and without reading what states have missed.
 */
export async function flushLocked(
  parts: FlushParts,
  connection: CommitConnection,
  entries: FlushEntry[],
  { skipsLocked = false } = {},
): Promise<Flushed> {
  const count = countIds(entries)
  const isLoadingAny = entries.some(isLoading)
  const locked = await connection.begin({
    apps: entries.map(({ actor }) => actor.id),
    keys: keysOf(entries),
    count,
    ahead: isLoadingAny ? 0 : connection.ids.refillSize(count),
    skipsLocked,
  })
  const now = parts.now()
  const missed: FlushEntry[] = []
  const absent: FlushEntry[] = []
  const lost: FlushEntry[] = []
  const present = split(
    entries,
    ({ actor }) => !locked.heads.has(actor.id),
    entry => absent.push(entry),
  )
  const decideAll = async (): Promise<DecidedEntry[]> => {
    await parts.sharedLog.catchUpTo(locked.sharedRev)
    const stale = present.filter(entry => isStale(entry, locked))
    const held = skipsLocked ? without(present, stale) : await forward(stale)
    const decisions = await decideLocked(parts, connection.db, held, locked, now)
    const bound = decisions.filter(decision => isBound(decision, locked)).map(({ entry }) => entry)
    if (bound.length === 0) return decisions
    // Only now it is known that these depend on the newest events: all are decided again, with the same numbers.
    if (!skipsLocked) return decideLocked(parts, connection.db, await forward(bound, held), locked, now)
    stale.push(...bound)
    return decideLocked(parts, connection.db, without(held, bound), locked, now)
  }
  const forward = async (stale: FlushEntry[], among = present) => {
    if (stale.length === 0) return among
    const wrong = await bringForward(parts, connection.db, stale)
    return split(
      among,
      ({ actor }) => wrong.has(actor),
      entry => lost.push(entry),
    )
  }
  const decisions = await connection.withTimeout(decideAll())
  const decided = new Set(decisions.map(({ entry }) => entry))
  for (const entry of present) if (!decided.has(entry) && !lost.includes(entry)) missed.push(entry)
  for (const decision of decisions) {
    const { head_rev } = locked.heads.get(decision.draft.app.id)!
    assign(decision, { head_rev, number_shift: 0, held_at: null })
  }
  const statement = toStatement(decisions, now, 'locked')
  if (statement.isEmpty) await connection.rollback()
  else await connection.commit(statement, locked, decisions.filter(({ draft }) => hasMoved(draft)).length)
  if (skipsLocked) missed.push(...absent)
  for (const { actor } of missed) actor.miss()
  const gone = skipsLocked ? [] : absent
  const refused = gone.flatMap(({ commands }) => commands.map(pending => ({ pending, reason: AppIsGone() })))
  return {
    results: [...refused, ...conclude(parts, decisions).results],
    missed,
    lost: [...lost, ...gone.map(({ actor }) => ({ actor, commands: [] }))],
  }
}

/** True where the state of an entry must be brought forward before its commands can be decided under the lock. */
function isStale(entry: FlushEntry, { heads }: Locked): boolean {
  const { app } = entry.actor.state
  const head = heads.get(app.id)!
  return head.head_rev !== app.head_rev && !(commutes(entry) && head.guard_rev === app.guard_rev)
}

/** True for a decision on an older state that does not hold for the present one: to write nothing rests on all of it. */
function isBound(decision: DecidedEntry, { heads }: Locked): boolean {
  const { app, base } = decision.draft
  const head = heads.get(app.id)!
  if (head.head_rev === base.app.head_rev) return false
  if (!hasMoved(decision.draft)) return true
  const made = app.made_count - base.app.made_count
  return isBoundToHead(decision) || (made > 0 && ((head.made_count - 1) % blockSize) + made >= blockSize)
}

function without(entries: FlushEntry[], left: FlushEntry[]): FlushEntry[] {
  return left.length === 0 ? entries : entries.filter(entry => !left.includes(entry))
}

/** Decides entries under their locks. `db`: the connection that holds these. */
async function decideLocked(
  parts: FlushParts,
  db: Db,
  entries: FlushEntry[],
  locked: Locked,
  now: Date,
): Promise<DecidedEntry[]> {
  const context = toContext(parts, entries, now, locked)
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
