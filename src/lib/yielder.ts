import { pause, systemClock } from './clock.ts'

/**
 * The pause after a piece of work, in units of the time that the piece took: long work gets a fifth of the thread. A
 * guess.
 */
const restFactor = 4

/**
 * Keeps long work from blocking the event loop: make one before each piece of the work, and await `rest` after it.
 * Other requests then wait for one piece at most.
 */
export class Yielder {
  readonly #startedAt = performance.now()

  /** Resolves after a pause in proportion to the time since this was made. */
  rest(): Promise<void> {
    return pause(systemClock, restFactor * (performance.now() - this.#startedAt))
  }
}
