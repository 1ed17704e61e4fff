/**
 * How long events are gathered before they are processed, and between two transactions: long enough to process many
 * messages together, short enough for mentions to seem immediate. Messages without mentions, and read markers, may take
 * longer: a transaction each quarter of a second took most of the processor time of a server with twenty messages per
 * second.
 */
export const gatherMs = { urgent: 250, plain: 1_000 }

/**
 * The most that a check for unread messages is delayed, so that apps with checks due at about the same time are checked
 * together: this, or half of the time for which messages have to be unread.
 */
const gatheredDueMs = 2_500

/**
 * When the check is due for users who have not read a message created at `madeAt`. `patienceMs`: as for NotifierParts.
 */
export function toDueAt(madeAt: Date, patienceMs: number): Date {
  const stepMs = Math.max(1, Math.min(gatheredDueMs, patienceMs / 2))
  return new Date(Math.ceil((madeAt.getTime() + patienceMs) / stepMs) * stepMs)
}

/** While more commands than these wait for commits, writers come first. A guess. */
const busyCommands = 16

/** Notifications per transaction, as far as events can be divided. Measured: 7 ms, half of it PostgreSQL's. */
export const portion = 100

/**
 * So many notifications in one transaction take long enough for writers to notice. A guess: less than a portion,
 * because some of its recipients may get no notification.
 */
const manyNotifications = 0.8 * portion

/**
 * The pause after a transaction, in units of its duration: it leaves a twentieth, or a fifth, of one connection's time;
 * or four fifths where no writer would notice.
 */
const pauseFactor = { long: 19, short: 4, least: 0.25 }

/**
 * Shares of the thread's time used by others: below the first no one notices the work, above the second all do.
 * Guesses.
 */
const [calm, lively] = [0.05, 0.3]

/** Load that is longer ago counts little. */
const memoryMs = 1_000

/** When the oldest event has waited for this long, pauses become shorter the later it gets. A guess. */
const patienceMs = 300_000

/** The longest pause, so that even late notifications are still made. */
const longestPauseMs = 1_000

/** Figures of a transaction that made notifications. */
interface Worked {
  /** Commands that wait for commits now. */
  waiting: number
  /** Nodes that commit now. Each gets its share of the time that one alone would have: they share a database. */
  nodes: number
  /** There was more than fits into one transaction. */
  isFull: boolean
  /** Events that may notify users, and new notifications. */
  projected: number
  notifications: number
  tookMs: number
  /** The age of its oldest event. */
  lateMs: number
  /** The share of the thread's time that others used lately. */
  otherLoad: number
}

/** Measures the load on the thread by others, during this work's pauses. Initially: full. */
export class EventLoopLoad {
  share = 1

  /** `share`: the part of a pause of `durationMs` in which the thread was busy. */
  record(share: number, durationMs: number): void {
    this.share += (share - this.share) * (1 - Math.exp(-durationMs / memoryMs))
  }
}

/**
 * While many users write, notifications wait, but no longer than this: a peak of some seconds is over by then, and with
 * a longer one they must keep up. A guess.
 */
const rushMs = 4_000

/**
 * The pause after a transaction, so that writers do not notice the work: longer first where many write; long after much
 * work where many write or one event notifies very many; shorter where the thread has little else to do. 0 after little
 * work: then more is gathered, see `gatherMs`.
 */
export function toPauseMs(worked: Worked): number {
  const { waiting, nodes, isFull, projected, notifications, tookMs, lateMs, otherLoad } = worked
  const isBusy = waiting > busyCommands
  const felt = isBusy ? 1 : between(0, (otherLoad - calm) / (lively - calm), 1)
  if (notifications >= manyNotifications) {
    const full = isBusy || notifications >= manyNotifications * projected ? pauseFactor.long : pauseFactor.short
    const factor = Math.max(pauseFactor.least, full * felt)
    return Math.min(longestPauseMs, tookMs * nodes * factor * Math.min(1, patienceMs / Math.max(1, lateMs)))
  }
  const rush = isBusy ? pauseFactor.long * between(0, 1 - lateMs / rushMs, 1) : 0
  // The rest of a peak is processed as fast as acceptable; in a lasting peak, with half of the time, or more if that is
  // not enough.
  const left = between(pauseFactor.least, felt * between(0, 3 - (2 * lateMs) / rushMs, 1), 1)
  return Math.min(longestPauseMs, tookMs * nodes * (isFull ? Math.max(left, rush) : rush))
}

function between(least: number, value: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}
