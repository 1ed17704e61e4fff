import { every, type Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { CommitLook } from './commit-look.ts'

/** Work that comes round again and again. */
export interface Job {
  name: string
  periodMs: number
  /**
   * A condition in SQL that takes some microseconds, for a job that only finds what was committed. Its turn is left out
   * where the condition does not hold, and where nothing was committed since its last turn, unless that failed, or answered
   * false because something will be due by time alone.
   */
  dueWhere?: string
  /** A query for a value, for a job that has nothing to do while that is what it was before the job's last turn. */
  dueWith?: string
  /**
   * It only finds what other nodes committed. While there are none, one turn in ten is enough, for what is written by
   * hand, and for the job to forget what it holds of this node's own commits.
   */
  isOfOthers?: boolean
  /**
   * When the signal aborts, it ends soon: what takes long is done in portions, and the rest left for another time. Answers
   * how many rows it removed or changed, where it counts them.
   */
  run: (signal: AbortSignal) => Promise<boolean | number | void>
}

/** How a turn of a job went. */
export interface JobTurn {
  name: string
  periodMs: number
  /** Milliseconds since 1970. */
  startedAt: number
  durationMs: number
  /** Removed or changed; null where it does not count them. */
  rows: number | null
  error: Error | null
}

interface JobOptions {
  clock: Clock
  log: Log
  signal: AbortSignal
  /** Told of each turn when it is over. */
  onTurn?: (turn: JobTurn) => void
  /** Needed where a job has a condition: looks at all of them. */
  look?: (asked: readonly string[]) => Promise<CommitLook>
}

/** How often it is looked for what was committed: half of the time in which other nodes may notice nothing. */
const lookMs = 1_000

/** How many looks in a row must have found no other node: what one that stops has under way is committed by then. */
const looksAlone = 10

/** Of the turns of a job that finds what others committed, one in so many is had where there are none. */
const turnsAlone = 10

/**
 * Does each job, again and again, until the signal aborts. A job that fails is logged, once until it succeeds
 * again, and has its next turn as usual. Nothing is lost if the process dies: every job picks up what is left. The
 * function returned resolves when no job is under way: before that, what they use must not be closed.
 *
 * One statement a second looks for all that follow commits, and whether they have anything to do: a server with nothing to
 * do costs little more than that.
 */
export function startJobs(jobs: Job[], options: JobOptions): () => Promise<void> {
  const { clock, signal } = options
  const underWay = new Set<Promise<unknown>>()
  const start = async (turn: Promise<unknown>) => {
    underWay.add(turn)
    await turn
    underWay.delete(turn)
  }
  const isFollower = ({ dueWhere, dueWith }: Job) => (dueWhere ?? dueWith) !== undefined
  const followers = jobs.filter(isFollower)
  const others = jobs.filter(job => !isFollower(job))
  if (followers.length > 0) others.push(followCommits(followers, options, start))
  for (const job of others) {
    const take = toTurns(job, options)
    every(clock, job.periodMs, signal, () => start(take()))
  }
  return async () => void (await Promise.all(underWay))
}

/** The turns of a job, one by one: each answers what the job did, or null where it failed. */
function toTurns({ name, periodMs, run }: Job, { clock, log, signal, onTurn }: JobOptions): () => Promise<unknown> {
  let hasFailed = false
  return async () => {
    const [startedAt, startedMs] = [clock.now(), performance.now()]
    let error: Error | null = null
    let outcome: unknown = null
    try {
      outcome = await run(signal)
      if (hasFailed) log.info({ job: name }, 'A job succeeds again')
      hasFailed = false
    } catch (failure) {
      error = failure instanceof Error ? failure : new Error(String(failure))
      if (!hasFailed) log.warn({ job: name, error }, 'A job failed; it is tried again')
      hasFailed = true
    }
    const rows = typeof outcome === 'number' ? outcome : null
    onTurn?.({ name, periodMs, startedAt, durationMs: performance.now() - startedMs, rows, error })
    return error === null ? outcome : null
  }
}

/** The job that gives these their turns. None of them waits for another. */
function followCommits(jobs: Job[], options: JobOptions, start: (turn: Promise<unknown>) => Promise<void>): Job {
  const { look } = options
  if (look === undefined) throw new Error('Jobs that follow commits need to look for these')
  const asked = jobs.map(({ dueWhere, dueWith }) => (dueWhere ?? dueWith)!)
  const followers = jobs.map(job => ({
    job,
    take: toTurns(job, options),
    everySoManyLooks: Math.ceil(job.periodMs / lookMs),
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
      if (options.signal.aborted) return
      looks++
      for (const [at, follower] of followers.entries()) {
        const { job, everySoManyLooks, isUnderWay, settledAt } = follower
        const isRare = job.isOfOthers === true && alone > looksAlone
        if (isUnderWay || looks % (everySoManyLooks * (isRare ? turnsAlone : 1)) !== 0) continue
        const state = job.dueWith === undefined ? snapshot : `${server} ${JSON.stringify(values[at])}`
        const isDue = job.dueWith !== undefined || values[at] === true
        if (isDue && settledAt !== state) void start(takeTurn(follower, state))
      }
    },
  }
}
