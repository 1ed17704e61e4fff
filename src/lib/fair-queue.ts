import PQueue from 'p-queue'

/**
 * A queue with a limit on what runs at one time, fair between users: next is the work of the user with the least work
 * before it, so that much work of one user holds up no other user.
 */
export class FairQueue {
  readonly #queue: PQueue
  /** User → the number of its jobs that wait or run. */
  readonly #owed = new Map<number, number>()

  /** `atOnce`: the jobs that run at one time. */
  constructor(atOnce = 1) {
    this.#queue = new PQueue({ concurrency: atOnce })
  }

  /** Jobs that wait, of all users. */
  get size(): number {
    return this.#queue.size
  }

  /** Jobs of a user that wait or run. */
  of(user: number): number {
    return this.#owed.get(user) ?? 0
  }

  add<Result>(user: number, work: () => Promise<Result>): Promise<Result> {
    const before = this.of(user)
    this.#owed.set(user, before + 1)
    return this.#queue.add(work, { priority: -before }).finally(() => this.#settle(user))
  }

  /** Drops all jobs that wait. */
  clear(): void {
    this.#queue.clear()
  }

  #settle(user: number): void {
    const left = this.of(user) - 1
    if (left === 0) this.#owed.delete(user)
    else this.#owed.set(user, left)
  }
}
