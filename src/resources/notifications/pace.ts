/** While this many commands wait for commits, people who write come first. A guess. */
const busyCommands = 16

/** An event that so many hear of takes long enough to be felt by those who write meanwhile. A guess. */
const manyTold = 100

/** How long making rests for them, in units of the time that it worked: a twentieth of one connection's time is left. */
const restFactor = 19

/** Those who are told have waited for them as long as this; from then on making rests less the later it is. Guesses. */
const patienceMs = { busy: 60_000, manyTold: 10_000 }

/** But no longer than this: people who are told late should still be told. */
const longestRestMs = 5_000

/** What a transaction that made notifications did. */
interface Worked {
  /** Commands that wait for commits now. */
  waiting: number
  /** Events that it worked through, and notifications that are new. */
  events: number
  told: number
  tookMs: number
  /** How long its oldest event had waited for it. */
  lateMs: number
}

/** How long the making of notifications rests after a transaction, so that nobody who writes feels it; often not at all. */
export function toRestMs({ waiting, events, told, tookMs, lateMs }: Worked): number {
  const isBusy = waiting > busyCommands
  if (!isBusy && told < manyTold * Math.max(1, events)) return 0
  const patience = isBusy ? patienceMs.busy : patienceMs.manyTold
  return Math.min(longestRestMs, tookMs * restFactor * Math.min(1, patience / Math.max(1, lateMs)))
}
