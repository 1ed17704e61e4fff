type Change = 'ended' | 'queued'

/**
 * The attempts of one queue that are in flight: at most one of each lane (an app), so that an app's events reach the receiver in
 * order. Ends with the queue that made it, which waits for all of them.
 */
export class AttemptsInFlight {
  readonly #flying = new Map<number, Promise<void>>()
  readonly #wakers = new Set<(change: Change) => void>()
  #failure: { reason: unknown } | null = null
  #isCut = false

  /** The lanes that have an attempt in flight. */
  get lanes(): number[] {
    return [...this.#flying.keys()]
  }

  get size(): number {
    return this.#flying.size
  }

  /** `work` resolves with false where its attempt counts for nothing, and is to be made once more. */
  start(lane: number, work: Promise<boolean>): void {
    const flight = work
      .then(
        counts => {
          if (!counts) this.#isCut = true
        },
        (reason: unknown) => {
          this.#failure ??= { reason }
        },
      )
      .finally(() => {
        this.#flying.delete(lane)
        this.#notify('ended')
      })
    this.#flying.set(lane, flight)
  }

  /** True once after an attempt that counts for nothing. Throws what an attempt failed with. */
  takeCut(): boolean {
    if (this.#failure !== null) throw this.#failure.reason
    const isCut = this.#isCut
    this.#isCut = false
    return isCut
  }

  /** Ends the waits of `change`: something was queued. */
  wake(): void {
    this.#notify('queued')
  }

  /** Resolves when the next attempt has ended, or something was queued. */
  change(): Promise<Change> {
    return new Promise(resolve => this.#wakers.add(resolve))
  }

  /** Resolves when nothing is in flight any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#flying.values())
  }

  #notify(change: Change): void {
    for (const waker of this.#wakers) waker(change)
    this.#wakers.clear()
  }
}
