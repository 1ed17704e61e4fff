import { setImmediate as nextTurn } from 'node:timers/promises'
import { pause, systemClock } from './clock.ts'

/** A job that waits for its turn. */
export interface WaitingJob {
  start(): void
  /** The memory that it holds while it waits. */
  sizeBytes?: number
}

/** The jobs of one user. */
interface Line {
  running: number
  waiting: WaitingJob[]
  waitingBytes: number
}

interface FairQueueOptions<User> {
  /** The most jobs that run at one time. */
  atOnce?: number
  /** The most jobs of one user that run at one time. */
  ofOne?: (user: User) => number
  /** The most jobs of one user that may wait; `wait` refuses more. */
  waitingOfOne?: number
  /** The most bytes that the waiting jobs of one user may hold. */
  bytesOfOne?: number
  /** True while a user who has waiting jobs is to rest. Asked again every few milliseconds. */
  isResting?: (user: User) => boolean
}

/** How soon a user whose rest is over goes on. */
const restMs = 5

/**
 * A queue with a limit on concurrent jobs, of all users and of each. Users take turns: the next job is the oldest one of
 * the user who has waited longest for a turn, so that a user's jobs keep their order, and a thousand jobs of one user
 * hold up another user's by one. At most one job of a user begins in a turn of the event loop, so that many short ones
 * leave room for other events.
 */
export class FairQueue<User = number> {
  readonly #atOnce: number
  readonly #ofOne: (user: User) => number
  readonly #waitingOfOne: number
  readonly #bytesOfOne: number
  readonly #isResting: (user: User) => boolean
  readonly #lines = new Map<User, Line>()
  /** The users with waiting jobs, in the order of their next turns. */
  readonly #turns = new Set<User>()
  #running = 0
  #waiting = 0
  #isAdvancing = false
  /** True where a user rested when jobs were last begun. */
  #isAnyResting = false
  #isWatching = false

  constructor({
    atOnce = Number.POSITIVE_INFINITY,
    ofOne = () => atOnce,
    waitingOfOne = Number.POSITIVE_INFINITY,
    bytesOfOne = Number.POSITIVE_INFINITY,
    isResting = () => false,
  }: FairQueueOptions<User> = {}) {
    this.#atOnce = atOnce
    this.#ofOne = ofOne
    this.#waitingOfOne = waitingOfOne
    this.#bytesOfOne = bytesOfOne
    this.#isResting = isResting
  }

  /** The number of waiting jobs, of all users. */
  get size(): number {
    return this.#waiting
  }

  /** The number of a user's jobs that wait or run. */
  countOf(user: User): number {
    const line = this.#lines.get(user)
    return line === undefined ? 0 : line.running + line.waiting.length
  }

  /** Counts a job that begins now. Returns false, and counts nothing, where it has to wait. */
  tryEnter(user: User): boolean {
    const line = this.#lines.get(user)
    if (line !== undefined && line.waiting.length > 0) return false
    if (this.#running >= this.#atOnce || (line !== undefined && line.running >= this.#ofOne(user))) return false
    if (this.#isResting(user)) return false
    if (line === undefined) this.#lines.set(user, { running: 1, waiting: [], waitingBytes: 0 })
    else line.running++
    this.#running++
    return true
  }

  /** Calls `job.start` in the user's turn. Returns false where too many of the user's jobs wait. */
  wait(user: User, job: WaitingJob): boolean {
    let line = this.#lines.get(user)
    if (line === undefined) this.#lines.set(user, (line = { running: 0, waiting: [], waitingBytes: 0 }))
    const { sizeBytes = 0 } = job
    if (line.waiting.length >= this.#waitingOfOne) return false
    if (line.waiting.length > 0 && line.waitingBytes + sizeBytes > this.#bytesOfOne) return false
    line.waiting.push(job)
    line.waitingBytes += sizeBytes
    this.#waiting++
    this.#turns.add(user)
    // Where no job of the user runs, it waits for a rest, and no end of a job may begin it.
    if (line.running === 0) this.#advance()
    return true
  }

  /** Takes back a job that waits. Returns false where it has begun. */
  remove(user: User, job: WaitingJob): boolean {
    const line = this.#lines.get(user)
    const at = line?.waiting.indexOf(job) ?? -1
    if (line === undefined || at === -1) return false
    line.waiting.splice(at, 1)
    this.#forgetWaiting(user, line, job)
    return true
  }

  /** Ends a job that has begun. */
  leave(user: User): void {
    const line = this.#lines.get(user)!
    line.running--
    this.#running--
    if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(user)
    // Who has just been served comes after those who have not.
    if (this.#turns.delete(user)) this.#turns.add(user)
    if (this.#waiting > 0) this.#advance()
  }

  /** Runs a job in the user's turn. Rejects with what `refuse` makes where too many of the user's jobs wait. */
  async add<Result>(user: User, work: () => Result | Promise<Result>, refuse = refuseNone): Promise<Result> {
    if (!this.tryEnter(user)) {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (!this.wait(user, { start: resolve })) throw refuse()
      await promise
    }
    try {
      return await work()
    } finally {
      this.leave(user)
    }
  }

  /** Drops all jobs that wait. */
  clear(): void {
    for (const user of this.#turns) {
      const line = this.#lines.get(user)!
      line.waiting = []
      line.waitingBytes = 0
      if (line.running === 0) this.#lines.delete(user)
    }
    this.#turns.clear()
    this.#waiting = 0
  }

  #forgetWaiting(user: User, line: Line, { sizeBytes = 0 }: WaitingJob): void {
    line.waitingBytes -= sizeBytes
    this.#waiting--
    if (line.waiting.length > 0) return
    this.#turns.delete(user)
    if (line.running === 0) this.#lines.delete(user)
  }

  /** Begins jobs in later turns of the event loop, until none may begin. */
  #advance(): void {
    if (this.#isAdvancing) return
    this.#isAdvancing = true
    void nextTurn().then(() => {
      this.#isAdvancing = false
      const isMore = this.#startNext()
      if (isMore) this.#advance()
      else if (this.#isAnyResting) this.#advanceLater()
    })
  }

  /** Looks again after users who rest. Those who do not are not kept waiting by it. */
  #advanceLater(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    void pause(systemClock, restMs).then(() => {
      this.#isWatching = false
      this.#advance()
    })
  }

  /** Begins a job of each user whose turn it is; true where more may begin. */
  #startNext(): boolean {
    let isMore = false
    this.#isAnyResting = false
    let left = this.#turns.size
    for (const user of this.#turns) {
      // The rest are users who have had this turn.
      if (left-- === 0) break
      if (this.#running >= this.#atOnce) return false
      const line = this.#lines.get(user)
      if (line === undefined || line.waiting.length === 0 || line.running >= this.#ofOne(user)) continue
      if (this.#isResting(user)) {
        this.#isAnyResting = true
        continue
      }
      const job = line.waiting.shift()!
      line.running++
      this.#running++
      this.#forgetWaiting(user, line, job)
      // To the end of the rotation.
      if (this.#turns.delete(user)) {
        this.#turns.add(user)
        isMore ||= line.running < this.#ofOne(user)
      }
      job.start()
    }
    return isMore
  }
}

function refuseNone(): Error {
  return new Error('A queue without a limit has refused a job')
}
