import { setTimeout as delay } from 'node:timers/promises'

/**
 * Calls `attempt` until it does not throw, and gives its result; after the deadline its last error. That
 * is far beyond what anything takes, because a machine that does much else meanwhile must not fail a test.
 * For what will be true soon, but tells nobody when.
 */
export async function eventually<Result>(
  attempt: () => Result | Promise<Result>,
  { timeoutMs = 20_000, everyMs = 20 } = {},
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
