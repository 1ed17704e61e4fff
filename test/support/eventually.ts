import { setTimeout as delay } from 'node:timers/promises'

/**
 * Calls `attempt` until it does not throw, and gives its result; after the deadline (5 s by default) its last error.
 * For what will be true soon, but tells nobody when.
 */
export async function eventually<Result>(
  attempt: () => Result | Promise<Result>,
  { timeoutMs = 5000, everyMs = 20 } = {},
): Promise<Result> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await delay(everyMs)
    }
  }
}
