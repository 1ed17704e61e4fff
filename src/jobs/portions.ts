import { pause, type Clock } from '../lib/clock.ts'

/** A rest is no longer, however long its portion took: a node that stops waits for it. */
const longestRestMs = 1_000

/** Rests are this many times as long as the portions before them. */
const restsPerPortion = 3

/**
 * Does something in portions of `size` until one is not full or the signal aborts; how many there were in all. With a clock
 * it rests after each portion for three times as long as that took, so that it never has more than a quarter of a disk's
 * time.
 */
export async function inPortions(
  size: number,
  signal: AbortSignal,
  take: () => Promise<number>,
  clock?: Clock,
): Promise<number> {
  let sum = 0
  for (;;) {
    const startedAt = performance.now()
    const count = await take()
    sum += count
    if (count < size || signal.aborted) return sum
    const tookMs = performance.now() - startedAt
    if (clock !== undefined) await pause(clock, Math.min(longestRestMs, restsPerPortion * tookMs))
  }
}
