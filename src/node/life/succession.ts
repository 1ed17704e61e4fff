import { once } from 'node:events'
import { pause, systemClock } from '../../lib/clock.ts'
import type { Epoch } from '../../log/epoch.ts'
import { isUnavailable } from '../../postgres/unavailable.ts'
import { endLife, openLife, type Life, type LifeOptions } from './life.ts'

interface SuccessionOptions extends Omit<LifeOptions, 'over'> {
  /** Called when the node cannot go on. */
  onLost: (error: Error) => void
}

/** Between two attempts to begin another life. A guess: a database takes longer to come back. */
const retryMs = 250

/**
 * The lives of one node: when the epoch of one is over, another begins with nothing in memory, and takes over its ports.
 * Meanwhile the one before answers 503. Started by `start`, ended by `stop`.
 */
export class Succession {
  readonly #options: SuccessionOptions
  readonly #stopping = new AbortController()
  #current: Life
  #following: Promise<void> = Promise.resolve()

  private constructor(options: SuccessionOptions, first: Life) {
    this.#options = options
    this.#current = first
  }

  /** Begins the first life. Resolves with the API key as well, if one was made. */
  static async start(options: SuccessionOptions): Promise<{ lives: Succession; apiKey: string | null }> {
    const { config } = options
    const first = await openLife({ ...options, over: null })
    try {
      // The port opens last, when the node can serve: a request that comes at once is answered, and the configured key valid.
      const apiKey = await first.provide()
      await first.listen().catch(async (error: unknown) => {
        if (apiKey !== null) await first.withdraw(apiKey)
        throw error
      })
      const lives = new Succession(options, first)
      lives.#following = lives.#follow().catch(options.onLost)
      return { lives, apiKey }
    } catch (error) {
      await endLife(first, config.drainSeconds * 1000)
      throw error
    }
  }

  get current(): Life {
    return this.#current
  }

  /** Ends the current life, and begins no other, within `budgetMs`. Never rejects. */
  async stop(budgetMs: number): Promise<void> {
    const endsAt = performance.now() + budgetMs
    this.#stopping.abort()
    await this.#following
    await endLife(this.#current, endsAt - performance.now())
  }

  /** Resolves when the node stops. Rejects when no other life can begin. */
  async #follow(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const { epoch } = this.#current
      if (!epoch.signal.aborted) await once(epoch.signal, 'abort', { signal }).catch(() => {})
      if (!signal.aborted) await this.#replace(this.#current)
    }
  }

  async #replace(before: Life): Promise<void> {
    const { log, config } = this.#options
    const drainMs = config.drainSeconds * 1000
    log.warn(
      { epoch: before.epoch.id },
      'The database has another history than before: all that was in memory is dropped, and clients load again',
    )
    // Its ports stay open, for those who are to hear that they may try again.
    const ended = before.parts.run(drainMs)
    const next = await this.#begin(before)
    if (next === null) return
    this.#current = next
    await next.listen(before.server.handOver())
    log.info({ epoch: next.epoch.id }, 'The node goes on with the history that the database has now')
    void ended.then(() => before.doors.run(drainMs))
  }

  async #open(over: Epoch): Promise<Life> {
    const next = await openLife({ ...this.#options, over })
    try {
      // A key that would be made here could be shown to no one.
      if (this.#options.config.apiKey !== null) await next.provide()
      return next
    } catch (error) {
      await endLife(next, 0)
      throw error
    }
  }

  /** Makes another life as soon as the database lets it; null where the node stops before. */
  async #begin(before: Life): Promise<Life | null> {
    const { signal } = this.#stopping
    for (let over = before.epoch; !signal.aborted;) {
      try {
        const next = await this.#open(over)
        if (!next.epoch.signal.aborted) return next
        over = next.epoch
        await endLife(next, 0)
      } catch (error) {
        if (!isUnavailable(error)) throw error
        this.#options.log.warn({ error }, 'The database cannot be used yet')
      }
      await pause(systemClock, retryMs, signal).catch(() => {})
    }
    return null
  }
}
