import PQueue from 'p-queue'

/**
 * Work that is done a little at a time. Next is that of whoever has least before it, so that a crowd of one person's work
 * keeps nobody waiting but that person.
 */
export class Turns {
  readonly #queue: PQueue
  /** Person → what waits or is being done. */
  readonly #owed = new Map<number, number>()

  /** `atOnce`: how much is done at one time. */
  constructor(atOnce = 1) {
    this.#queue = new PQueue({ concurrency: atOnce })
  }

  /** What waits in all. */
  get size(): number {
    return this.#queue.size
  }

  /** What waits or is being done of one person's. */
  of(person: number): number {
    return this.#owed.get(person) ?? 0
  }

  add<Result>(person: number, work: () => Promise<Result>): Promise<Result> {
    const before = this.of(person)
    this.#owed.set(person, before + 1)
    return this.#queue.add(work, { priority: -before }).finally(() => this.#settle(person))
  }

  /** What waits is never done. */
  clear(): void {
    this.#queue.clear()
  }

  #settle(person: number): void {
    const left = this.of(person) - 1
    if (left === 0) this.#owed.delete(person)
    else this.#owed.set(person, left)
  }
}
