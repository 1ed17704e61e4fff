type Change = 'ended' | 'queued'

/**
 * The running attempts of one queue: at most one per lane (an app), so that an app's events arrive in order. Ends with
 * its queue, which waits for all of them.
 */
export class AttemptsInFlight {
  readonly #flying = new Map<number, Promise<void>>()
  readonly #wakers = new Set<(change: Change) => void>()
  #failure: { reason: unknown } | null = null
  #isCut = false

  /** The lanes with a running attempt. */
  get lanes(): number[] {
    return [...this.#flying.keys()]
  }

  get size(): number {
    return this.#flying.size
  }

  /** `work` resolves with false where its attempt does not count and has to be repeated. */
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

  /** True once after an attempt that does not count. Throws the error of a failed one. */
  takeCut(): boolean {
    if (this.#failure !== null) throw this.#failure.reason
    const isCut = this.#isCut
    this.#isCut = false
    return isCut
  }

  /** Resolves pending `change` promises: a delivery was queued. */
  wake(): void {
    this.#notify('queued')
  }

  /** Resolves when the next attempt has ended, or a delivery was queued. */
  change(): Promise<Change> {
    return new Promise(resolve => this.#wakers.add(resolve))
  }

  /** Resolves when no attempt is running. */
  async settled(): Promise<void> {
    await Promise.all(this.#flying.values())
  }

  #notify(change: Change): void {
    for (const waker of this.#wakers) waker(change)
    this.#wakers.clear()
  }
}
