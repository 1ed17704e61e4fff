import { pause, type Clock } from '../lib/clock.ts'

/** A rest is no longer, however long its portion took: a node that stops waits for it. */
const longestRestMs = 1_000

/**
 * A rest is this many times as long as its portion. Measured while a million messages and notifications were purged: with
 * 1, the longest send took 149 to 224 ms in four runs of six, with 3 it took 73 to 142 ms in three (docs/lists.md).
 */
const restFactor = 3

/**
 * Does something in portions of `size` until one is not full or the signal aborts; how many there were in all. With a clock
 * it rests after each portion for three times as long as that took: it has a quarter of the disk's time, and more only where
 * a portion takes longer than a third of a second.
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
    if (clock !== undefined) await pause(clock, Math.min(longestRestMs, restFactor * tookMs))
  }
}
