import { setTimeout as wait } from 'node:timers/promises'

/** How long others have the thread, in units of the time that a turn took: a fifth of it is left for such work. A guess. */
const restFactor = 4

/**
 * A small piece of work that concerns many people. Done at once, telling a thousand makes whoever comes meanwhile wait for
 * all of them, on this thread and for the processors; in turns, nobody waits for longer than one takes.
 */
export class Turn {
  readonly #startedAt = performance.now()

  /** Resolves when others have had their time. */
  end(): Promise<void> {
    return wait(restFactor * (performance.now() - this.#startedAt))
  }
}
