import { systemClock } from '../lib/clock.ts'
import { EgressFailed } from './egress-failed.ts'

interface CutoffOptions {
  /** The limit of the whole exchange. */
  deadlineMs: number
  /** The limit of each wait. Default: `deadlineMs`. */
  idleMs?: number
  /** The signal of the caller. */
  signal?: AbortSignal | undefined
}

/**
 * Aborts one exchange at the first of three: the caller's signal, the deadline of the whole, or a wait that takes too
 * long. Counts from its creation, and must be released when the exchange has ended.
 */
export class Cutoff {
  readonly #options: CutoffOptions
  readonly #cutting = new AbortController()
  /** Cancels the deadline. */
  readonly #cancel: () => void
  #reason: 'deadline' | 'idle' | 'stopped' = 'stopped'

  constructor(options: CutoffOptions) {
    this.#options = options
    this.#cancel = systemClock.after(options.deadlineMs, () => this.#cut('deadline'))
    // Not AbortSignal.any: a signal that lives as long as the process would keep a reference to each exchange.
    options.signal?.addEventListener('abort', this.#stop)
    if (options.signal?.aborted) this.#stop()
  }

  /** Aborts at the first of the three. */
  get signal(): AbortSignal {
    return this.#cutting.signal
  }

  /** Settles like `work`, and aborts the exchange where that takes longer than `idleMs`. */
  async waiting<T>(work: Promise<T>): Promise<T> {
    const { idleMs } = this.#options
    if (idleMs === undefined) return work
    const cancel = systemClock.after(idleMs, () => this.#cut('idle'))
    try {
      return await work
    } finally {
      cancel()
    }
  }

  /** The reason why the exchange failed, given what was thrown. */
  toFailure(cause: unknown): unknown {
    if (!this.signal.aborted) return cause
    const partial = cause instanceof EgressFailed ? cause.partial : undefined
    const { deadlineMs, idleMs = 0 } = this.#options
    const message = {
      deadline: `No complete answer within ${deadlineMs / 1000} s`,
      idle: `Nothing arrived for ${idleMs / 1000} s`,
      stopped: 'The exchange was stopped',
    }[this.#reason]
    return new EgressFailed(this.#reason, message, { cause, partial })
  }

  release(): void {
    this.#cancel()
    this.#options.signal?.removeEventListener('abort', this.#stop)
  }

  readonly #stop = (): void => this.#cut('stopped')

  #cut(reason: 'deadline' | 'idle' | 'stopped'): void {
    if (this.signal.aborted) return
    this.#reason = reason
    this.#cutting.abort()
  }
}
