/**
 * How long what follows from commits is gathered before it is done, and between two times: long enough that the work of
 * many messages is done at once, and short enough that a mention seems to be told at once. Of messages that mention nobody,
 * and of read markers, nobody hears that soon: a transaction for each quarter of a second took most of the processor time
 * of a server with twenty messages a second.
 */
export const gatherMs = { telling: 250, plain: 1_000 }

/**
 * Of unread messages it need not be told to the second. In apps where that comes due about the same time it is looked for
 * at once: this long after, at most, and half as long again as it has to wait anyway.
 */
const gatheredDueMs = 2_500

/** The times at which it is looked for messages that have been unread for long enough are so many milliseconds apart. */
export function toDueStepMs(patienceMs: number): number {
  return Math.max(1, Math.min(gatheredDueMs, patienceMs / 2))
}

/** When to look for people who have not read a message made at this time. */
export function toDueAt(madeAt: Date, patienceMs: number): Date {
  const stepMs = toDueStepMs(patienceMs)
  return new Date(Math.ceil((madeAt.getTime() + patienceMs) / stepMs) * stepMs)
}

/** While this many commands wait for commits, people who write come first. A guess. */
export const busyCommands = 16

/** Notifications in one transaction, as nearly as events can be divided. Measured: 7 ms, half of them PostgreSQL's. */
export const portion = 100

/**
 * So many notifications at a time take long enough to be felt by those who write meanwhile. A guess: less than a portion,
 * because in a portion of a crowd there may be some who are not told.
 */
const manyTold = 0.8 * portion

/**
 * How long making rests, in units of the time that it worked: what is left is a twentieth, or a fifth, of one
 * connection's; or four fifths, where nobody is there to feel it.
 */
const restFactor = { long: 19, short: 4, least: 0.25 }

/** Shares of the thread's time that others use: with less nobody feels what is made, with more everybody. Guesses. */
const [calm, lively] = [0.05, 0.3]

/** What others used longer ago than this counts little. */
const memoryMs = 1_000

/** Those who are told have waited for them as long as this; from then on making rests less the later it is. A guess. */
const patienceMs = 300_000

/** But no longer than this: people who are told late should still be told. */
const longestRestMs = 1_000

/** What a transaction that made notifications did. */
interface Worked {
  /** Commands that wait for commits now. */
  waiting: number
  /** There was more than one transaction takes. */
  isFull: boolean
  /** Events that may tell somebody, and notifications that are new. */
  telling: number
  told: number
  tookMs: number
  /** How long its oldest event had waited for it. */
  lateMs: number
  /** The share of the thread's time that others used lately. */
  others: number
}

/** What others have made of the thread's time lately, as seen while making rested. At first, all. */
export class Others {
  share = 1

  /** `share`: of a rest of so many milliseconds. */
  used(share: number, restMs: number): void {
    this.share += (share - this.share) * (1 - Math.exp(-restMs / memoryMs))
  }
}

/**
 * While many write, all of it waits for them, but no longer than this: a rush of some seconds is over by then, and what
 * comes at such a rate for longer has to be kept up with. A guess.
 */
const rushMs = 4_000

/**
 * How long the making of notifications rests after a transaction, so that people who write do not feel it: for longer at
 * first where many write; where there was much to make, for long where many write or a single event tells a whole crowd,
 * and for less where the thread has little else to do. 0 where there was little: then more is gathered, see `gatherMs`.
 */
export function toRestMs({ waiting, isFull, telling, told, tookMs, lateMs, others }: Worked): number {
  const isBusy = waiting > busyCommands
  const felt = isBusy ? 1 : between(0, (others - calm) / (lively - calm), 1)
  if (told >= manyTold) {
    const full = isBusy || told >= manyTold * telling ? restFactor.long : restFactor.short
    const factor = Math.max(restFactor.least, full * felt)
    return Math.min(longestRestMs, tookMs * factor * Math.min(1, patienceMs / Math.max(1, lateMs)))
  }
  const rush = isBusy ? restFactor.long * between(0, 1 - lateMs / rushMs, 1) : 0
  // What is left of a rush is done as fast as it may be felt; in a rush that lasts, half of the time.
  const left = between(restFactor.least, felt, 1)
  return Math.min(longestRestMs, tookMs * (isFull ? Math.max(left, rush) : rush))
}

function between(least: number, value: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}
