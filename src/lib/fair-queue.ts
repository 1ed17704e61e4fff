import PQueue from 'p-queue'

/**
 * A queue with a limit on concurrent jobs, fair between users: the next job is one of the user with the fewest jobs
 * before it, so that many jobs of one user do not hold up the other users.
 */
export class FairQueue {
  readonly #queue: PQueue
  /** User → the number of the user's jobs that wait or run. */
  readonly #pending = new Map<number, number>()

  /** `atOnce`: the most jobs that run at one time. */
  constructor(atOnce = 1) {
    this.#queue = new PQueue({ concurrency: atOnce })
  }

  /** The number of waiting jobs, of all users. */
  get size(): number {
    return this.#queue.size
  }

  /** The number of a user's jobs that wait or run. */
  countOf(user: number): number {
    return this.#pending.get(user) ?? 0
  }

  add<Result>(user: number, work: () => Promise<Result>): Promise<Result> {
    const before = this.countOf(user)
    this.#pending.set(user, before + 1)
    return this.#queue.add(work, { priority: -before }).finally(() => this.#release(user))
  }

  /** Drops all jobs that wait. */
  clear(): void {
    this.#queue.clear()
  }

  #release(user: number): void {
    const left = this.countOf(user) - 1
    if (left === 0) this.#pending.delete(user)
    else this.#pending.set(user, left)
  }
}
