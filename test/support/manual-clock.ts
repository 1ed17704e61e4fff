import type { Clock } from '../../src/lib/clock.ts'

/** Time that passes when the test says so. */
export class ManualClock implements Clock {
  #now = Date.UTC(2026, 0, 1)
  readonly #timers = new Set<{ at: number; run: () => void }>()

  now(): number {
    return this.#now
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.#now + delayMs, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Lets time pass at once, and runs what has become due. */
  advance(ms: number): void {
    this.#now += ms
    for (const timer of [...this.#timers].filter(({ at }) => at <= this.#now)) {
      this.#timers.delete(timer)
      timer.run()
    }
  }
}
