/** Seconds before the first retry, and the factor between retries, up to some hours. Guesses. */
const firstSeconds = 5
const factor = 4
const longestSeconds = 6 * 3_600

/**
 * The pause in milliseconds after a number of failed attempts: 5 s, 20 s, 80 s, … and at most 6 h, each varied by a
 * tenth, so that simultaneous failures are not retried together. `random` is from 0 to 1.
 */
export function retryDelayMs(attempts: number, random: number): number {
  const seconds = Math.min(firstSeconds * factor ** (attempts - 1), longestSeconds)
  return seconds * 1000 * (0.9 + 0.2 * random)
}
