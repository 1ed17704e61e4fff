import { pause, systemClock } from './clock.ts'

/** How long others have the thread, in units of the time that a piece took: a fifth is left for such work. A guess. */
const restFactor = 4

/**
 * Keeps long work from blocking the event loop: make one before each piece of the work, and await `rest` after it. Other
 * requests then wait for one piece at most, on this thread and for the processors.
 */
export class Yielder {
  readonly #startedAt = performance.now()

  /** Resolves when others have had the thread for a while, in proportion to the time since this was made. */
  rest(): Promise<void> {
    return pause(systemClock, restFactor * (performance.now() - this.#startedAt))
  }
}
