/** The first pause after a connection was lost; it doubles with each attempt that fails. */
const firstMs = 500

const longestMs = 30_000

/** After a restart of the server all of its clients come back; they are to spread over this time. */
const restartMs = 5_000

/** Where the server says that there is too much of something, coming back soon would be more of it. */
const leastWhenTooMuchMs = 5_000

/** Close codes of the server that a client acts on. */
export const codes = {
  restarting: 1012,
  malformed: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  ended: 4410,
  tooMany: 4429,
} as const

/** After these a client stays away: connecting again would lead to the same, or is not wanted. */
export const finalCodes: readonly number[] = [codes.malformed, codes.forbidden, codes.ended]

/**
 * How long to wait before connecting again. All of it is random, so that clients that were cut together do not come
 * back together. `failures` counts attempts without a welcome; a connection that worked is first resumed at once.
 */
export function toDelayMs(code: number, failures: number, random: () => number): number {
  if (code === codes.restarting && failures === 0) return random() * restartMs
  const least = code === codes.tooMany ? leastWhenTooMuchMs : 0
  return least + random() * Math.min(longestMs, firstMs * 2 ** failures)
}
