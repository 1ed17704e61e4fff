import { inPortions } from '../../jobs/portions.ts'
import type { Job } from '../../jobs/jobs.ts'
import type { JobParts } from '../resource.ts'
import { isAnyUntrimmed, trimNext, trimmedAtOnce } from './bound.ts'
import { isAnyWaiting } from './processing/backlog.ts'
import type { Notifier } from './processing/consumer.ts'
import { removeOld } from './store.ts'

/** Older notifications are removed. */
const keepDays = 90

/**
 * Rows per delete. Old ones are scattered over the disk, with their index entries: 1,000 at a time took seconds of a disk
 * that commits wait for (measured with five million).
 */
const batchSize = 200

/** Until nothing before it can still be committed, an event is read about three times by sweeps. A guess. */
const sweepMs = 3_000

/** What a user gets meanwhile is more than the limit. A guess. */
const trimMs = 10_000

interface Parts extends Pick<JobParts, 'sql' | 'clock' | 'past'> {
  notifier: Notifier
  /** The most notifications that a user keeps. */
  perUser: number
}

/** The background jobs of notifications. */
export function notificationJobs({ notifier, perUser, sql, clock, past }: Parts): Job[] {
  const forget = async (signal: AbortSignal) => {
    const before = new Date((await past()).getTime() - keepDays * 86_400_000)
    return inPortions(batchSize, signal, () => removeOld(sql, before, batchSize), clock)
  }
  const trim = async (signal: AbortSignal) => {
    await inPortions(trimmedAtOnce, signal, () => trimNext(sql, perUser), clock)
  }
  return [
    { name: 'find apps with events to process', periodMs: 1_000, dueWhere: isAnyWaiting, run: () => notifier.poll() },
    {
      name: 'find events that stopped nodes have left',
      periodMs: sweepMs,
      dueWhere: 'true',
      run: () => notifier.sweep(),
    },
    { name: 'keep the newest notifications of each user', periodMs: trimMs, dueWhere: isAnyUntrimmed, run: trim },
    { name: 'forget notifications', periodMs: 600_000, run: forget },
  ]
}
