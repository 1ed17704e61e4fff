/** Seconds before the first repeated attempt, and how much longer each next one waits, up to some hours. Guesses. */
const firstSeconds = 5
const factor = 4
const longestSeconds = 6 * 3_600

/**
 * How long to wait after so many attempts have failed, in milliseconds: 5 s, 20 s, 80 s, … and 6 h at most, each a tenth
 * longer or shorter, so that what failed together does not come back together. `random` is from 0 to 1.
 */
export function retryDelayMs(attempts: number, random: number): number {
  const seconds = Math.min(firstSeconds * factor ** (attempts - 1), longestSeconds)
  return seconds * 1000 * (0.9 + 0.2 * random)
}
