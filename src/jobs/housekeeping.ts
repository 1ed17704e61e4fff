import { every, type Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { CommitLook } from './commit-look.ts'
import { addPartitions, dropPartitions } from '../log/events.ts'
import { removeForwardedKeys, removeStoredResults } from '../engine/commit/idempotency.ts'
import type { Db, Sql } from '../postgres/sql.ts'

/** Work that comes round again and again. */
export interface Chore {
  name: string
  periodMs: number
  /**
   * A condition in SQL that takes some microseconds, for a chore that only finds what was committed. Its turn is left out
   * where the condition does not hold, and where nothing was committed since its last turn, unless that failed, or answered
   * false because something will be due by time alone.
   */
  dueWhere?: string
  /** A query for a value, for a chore that has nothing to do while that is what it was before the chore's last turn. */
  dueWith?: string
  /**
   * It only finds what other nodes committed. While there are none, one turn in ten is enough, for what is written by
   * hand, and for the chore to forget what it holds of this node's own commits.
   */
  isOfOthers?: boolean
  /**
   * When the signal aborts, it ends soon: what takes long is done in portions, and the rest left for another time. Answers
   * how many rows it removed or changed, where it counts them.
   */
  run: (signal: AbortSignal) => Promise<boolean | number | void>
}

/** How a turn of a chore went. */
export interface ChoreTurn {
  name: string
  periodMs: number
  /** Milliseconds since 1970. */
  startedAt: number
  durationMs: number
  /** Removed or changed; null where it does not count them. */
  rows: number | null
  error: Error | null
}

interface Keeping {
  clock: Clock
  log: Log
  signal: AbortSignal
  /** Told of each turn when it is over. */
  onTurn?: (turn: ChoreTurn) => void
  /** Needed where a chore has a condition: looks at all of them. */
  look?: (asked: readonly string[]) => Promise<CommitLook>
}

/** Answers to a POST are kept for repetition this long. */
const idempotencyHours = 24

/** And those to commands that one node asked of another: it repeats them within seconds, if at all. A guess. */
const forwardedMinutes = 15

/** Rows in one delete: few enough that requests do not wait for it. A guess. */
const batchSize = 1000

/** Any fixed number: of several nodes one rotates, the others wait and find it done. */
const rotationLock = 7_213_002

/** How often it is looked for what was committed: half of the time in which other nodes may notice nothing. */
const lookMs = 1_000

/** How many looks in a row must have found no other node: what one that stops has under way is committed by then. */
const looksAlone = 10

/** Of the turns of a chore that finds what others committed, one in so many is had where there are none. */
const turnsAlone = 10

/**
 * Does each chore, again and again, until the signal aborts. A chore that fails is logged, once until it succeeds
 * again, and has its next turn as usual. Nothing is lost if the process dies: every chore picks up what is left. The
 * function returned resolves when no chore is under way: before that, what they use must not be closed.
 *
 * One statement a second looks for all that follow commits, and whether they have anything to do: a server with nothing to
 * do costs little more than that.
 */
export function keepHouse(chores: Chore[], keeping: Keeping): () => Promise<void> {
  const { clock, signal } = keeping
  const underWay = new Set<Promise<unknown>>()
  const start = async (turn: Promise<unknown>) => {
    underWay.add(turn)
    await turn
    underWay.delete(turn)
  }
  const isFollower = ({ dueWhere, dueWith }: Chore) => (dueWhere ?? dueWith) !== undefined
  const followers = chores.filter(isFollower)
  const others = chores.filter(chore => !isFollower(chore))
  if (followers.length > 0) others.push(followCommits(followers, keeping, start))
  for (const chore of others) {
    const take = toTurns(chore, keeping)
    every(clock, chore.periodMs, signal, () => start(take()))
  }
  return async () => void (await Promise.all(underWay))
}

/** The turns of a chore, one by one: each answers what the chore did, or null where it failed. */
function toTurns({ name, periodMs, run }: Chore, { clock, log, signal, onTurn }: Keeping): () => Promise<unknown> {
  let hasFailed = false
  return async () => {
    const [startedAt, startedMs] = [clock.now(), performance.now()]
    let error: Error | null = null
    let outcome: unknown = null
    try {
      outcome = await run(signal)
      if (hasFailed) log.info({ chore: name }, 'A chore succeeds again')
      hasFailed = false
    } catch (failure) {
      error = failure instanceof Error ? failure : new Error(String(failure))
      if (!hasFailed) log.warn({ chore: name, error }, 'A chore failed; it is tried again')
      hasFailed = true
    }
    const rows = typeof outcome === 'number' ? outcome : null
    onTurn?.({ name, periodMs, startedAt, durationMs: performance.now() - startedMs, rows, error })
    return error === null ? outcome : null
  }
}

/** The chore that gives these their turns. None of them waits for another. */
function followCommits(chores: Chore[], keeping: Keeping, start: (turn: Promise<unknown>) => Promise<void>): Chore {
  const { look } = keeping
  if (look === undefined) throw new Error('Chores that follow commits need to look for these')
  const asked = chores.map(({ dueWhere, dueWith }) => (dueWhere ?? dueWith)!)
  const followers = chores.map(chore => ({
    chore,
    take: toTurns(chore, keeping),
    everySoManyLooks: Math.ceil(chore.periodMs / lookMs),
    isUnderWay: false,
    /** How things stood before the last turn, where there is nothing to do before they change. */
    settledAt: null as string | null,
  }))
  let looks = 0
  let alone = 0
  const takeTurn = async (follower: (typeof followers)[number], state: string) => {
    follower.isUnderWay = true
    follower.settledAt = null
    const outcome = await follower.take()
    if (outcome !== false && outcome !== null) follower.settledAt = state
    follower.isUnderWay = false
  }
  return {
    name: 'look for what was committed',
    periodMs: lookMs,
    async run() {
      // Where the look fails, much may have happened before the next one.
      const before = alone
      alone = 0
      const { snapshot, server, values, hasOthers } = await look(asked)
      if (!hasOthers) alone = before + 1
      // A turn that begins now would use connections that the node is about to close.
      if (keeping.signal.aborted) return
      looks++
      for (const [at, follower] of followers.entries()) {
        const { chore, everySoManyLooks, isUnderWay, settledAt } = follower
        const isRare = chore.isOfOthers === true && alone > looksAlone
        if (isUnderWay || looks % (everySoManyLooks * (isRare ? turnsAlone : 1)) !== 0) continue
        const state = chore.dueWith === undefined ? snapshot : `${server} ${JSON.stringify(values[at])}`
        const isDue = chore.dueWith !== undefined || values[at] === true
        if (isDue && settledAt !== state) void start(takeTurn(follower, state))
      }
    },
  }
}

/**
 * Does something in portions of `size` until one is not full or the signal aborts; how many there were in all. With a clock
 * it rests after each portion for as long as that took, so that it never has more than half of a disk's time.
 */
export async function inPortions(
  size: number,
  signal: AbortSignal,
  take: () => Promise<number>,
  clock?: Clock,
): Promise<number> {
  let sum = 0
  for (;;) {
    const startedAt = performance.now()
    const count = await take()
    sum += count
    if (count < size || signal.aborted) return sum
    const tookMs = Math.min(longestRestMs, performance.now() - startedAt)
    if (clock !== undefined) await new Promise<void>(resolve => clock.after(tookMs, resolve))
  }
}

/** A rest is no longer, however long its portion took: a node that stops waits for it. */
const longestRestMs = 1_000

/** For how many days the logs are kept. */
type KeptDays = Parameters<typeof dropPartitions>[1]

/** What the database needs. Several nodes may do it at once. */
export function storageChores(sql: Sql, keep: KeptDays, now: () => Date): Chore[] {
  const inAll = (removeBatch: (sql: Sql, now: Date) => Promise<number>) => async (signal: AbortSignal) => {
    const time = await earlierTime(sql, now())
    return inPortions(batchSize, signal, () => removeBatch(sql, time))
  }
  return [
    { name: 'rotate events', periodMs: 600_000, run: () => rotateEvents(sql, keep, now()) },
    { name: 'forget answers', periodMs: 60_000, run: inAll(removeOldAnswers) },
    { name: 'forget commands of other nodes', periodMs: 60_000, run: inAll(removeOldForwarded) },
    { name: 'forget tokens', periodMs: 60_000, run: inAll(removeExpiredTokens) },
  ]
}

/** Makes room for the events of the days to come; to be done before the first event is written, too. */
export async function prepareEvents(sql: Sql, now: Date): Promise<void> {
  await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(${rotationLock})`
    await addPartitions(tx, now)
  })
}

async function rotateEvents(sql: Sql, keep: KeptDays, now: Date): Promise<void> {
  await prepareEvents(sql, now)
  await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(${rotationLock})`
    // Dropping locks the log: rather at the next turn than behind a long query, with everybody queueing.
    await tx`set local lock_timeout = '200ms'`
    await dropPartitions(tx, keep, await earlierTime(tx, now))
  })
}

/**
 * That of this node or of PostgreSQL. What is deleted is gone for every node, so it has to be old by both clocks: one
 * that is ahead would take what is written today for old.
 */
export async function earlierTime(db: Db, now: Date): Promise<Date> {
  const [row] = await db<{ time: Date }[]>`select least(now(), ${now}) as time`
  return row!.time
}

function removeOldAnswers(sql: Sql, now: Date): Promise<number> {
  return removeStoredResults(sql, new Date(now.getTime() - idempotencyHours * 3_600_000), batchSize)
}

function removeOldForwarded(sql: Sql, now: Date): Promise<number> {
  return removeForwardedKeys(sql, new Date(now.getTime() - forwardedMinutes * 60_000), batchSize)
}

/** Served by tokens_expiry. */
async function removeExpiredTokens(sql: Sql, now: Date): Promise<number> {
  const { count } = await sql`
    delete from tokens where hash in (
      select hash from tokens where expires_at < ${now}
      order by expires_at limit ${batchSize} for update skip locked)`
  return count
}
