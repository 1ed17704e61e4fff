/**
 * The longest pause after a connection that worked. Half of the clients of a node that died are to go on elsewhere within
 * 0.4 s: this leaves most of it for connecting.
 */
const resumeMs = 250

/** The longest pause after the first failed attempt; it doubles with each further one. */
const firstMs = 1_000

const longestMs = 30_000

/** After a restart of the server all its clients reconnect, spread over this time. */
const restartMs = 5_000

/** Where the server reports an exceeded limit, reconnecting sooner would make it worse. */
const leastWhenTooMuchMs = 5_000

/** Close codes of the server that the client acts on. */
export const codes = {
  restarting: 1012,
  malformed: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  ended: 4410,
  tooMany: 4429,
} as const

/** After these the client does not reconnect: it would fail again, or is not wanted. */
export const finalCodes: readonly number[] = [codes.malformed, codes.forbidden, codes.ended]

/**
 * The pause before the next attempt, random, so that clients that were cut together do not reconnect together.
 * `failures` counts attempts without a welcome.
 */
export function toDelayMs(code: number, failures: number, random: () => number): number {
  if (code === codes.restarting && failures === 0) return random() * restartMs
  const least = code === codes.tooMany ? leastWhenTooMuchMs : 0
  const mostMs = failures === 0 ? resumeMs : Math.min(longestMs, firstMs * 2 ** (failures - 1))
  return least + random() * mostMs
}
