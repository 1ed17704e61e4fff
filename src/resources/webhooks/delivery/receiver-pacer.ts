import PQueue from 'p-queue'

/** Beyond this number of receivers, idle ones are evicted. A guess; each takes about 1 KB. */
const roomyCount = 1_000

const windowMs = 1_000

interface Pace {
  queue: PQueue
  usedAtMs: number
}

/**
 * Limits the requests to each receiver from this node: `perSecond` within any second, first come, first served.
 * Webhooks with one receiver share its pace. In memory only: a restart begins with a full allowance.
 */
export class ReceiverPacer {
  readonly #perSecond: number
  readonly #paces = new Map<string, Pace>()

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Resolves with true when the next request to the origin of `url` may start, with false when the signal aborts. */
  async acquire(url: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    const pace = this.#paceOf(new URL(url).origin)
    pace.usedAtMs = performance.now()
    return pace.queue.add(() => true, { signal }).catch(() => false)
  }

  #paceOf(origin: string): Pace {
    const known = this.#paces.get(origin)
    if (known !== undefined) return known
    if (this.#paces.size >= roomyCount) this.#forget()
    // strict: a sliding window, not one of the clock; otherwise an idle queue would delay the next request.
    const queue = new PQueue({ interval: windowMs, intervalCap: this.#perSecond, strict: true })
    const pace = { queue, usedAtMs: 0 }
    this.#paces.set(origin, pace)
    return pace
  }

  /** Evicts receivers without a request in the last second: a new entry would be equal. */
  #forget(): void {
    for (const [origin, { queue, usedAtMs }] of this.#paces) {
      if (queue.size === 0 && performance.now() - usedAtMs > windowMs) this.#paces.delete(origin)
    }
  }
}
