import type { Apps } from '../../engine/apps.ts'
import { inPortions } from '../../jobs/portions.ts'
import type { Job } from '../../jobs/jobs.ts'
import type { JobParts } from '../resource.ts'
import { processAudits, isAnyAudit } from './lists/audits.ts'
import { isAnyDeparture, removeDeparted } from './lists/departures.ts'
import { isAnyWaiting } from './processing/backlog.ts'
import type { Notifier } from './processing/consumer.ts'
import { isAnyMark, applyMark } from './lists/marks.ts'
import { addUpTotals, addedUpAtOnce, countTotals, isAnyTotal } from './lists/totals.ts'
import { removeOld } from './store.ts'
import { termJob } from './processing/terms.ts'

/** Older notifications are removed. */
const keepDays = 90

/**
 * Rows per delete. Old ones are scattered over the disk, with their words and index entries: 1,000 at a time took
 * seconds of a disk that commits wait for (measured with five million).
 */
const batchSize = 200

/** Until nothing before it can still be committed, an event is read about three times by sweeps. A guess. */
const sweepMs = 3_000

/** Time per second for marking notifications: half of one connection's. A guess. */
const markingMs = 500

interface Parts extends Pick<JobParts, 'sql' | 'clock' | 'past'> {
  notifier: Notifier
  apps: Pick<Apps, 'waitingAnywhere'>
  observeTerms: (waiting: number) => void
}

/** The background jobs of notifications. */
export function notificationJobs({ notifier, apps, sql, clock, past, observeTerms }: Parts): Job[] {
  const forget = async (signal: AbortSignal) => {
    const before = new Date((await past()).getTime() - keepDays * 86_400_000)
    return inPortions(batchSize, signal, () => removeOld(sql, before, batchSize), clock)
  }
  const forgetDeparted = async (signal: AbortSignal) => {
    await inPortions(batchSize, signal, () => removeDeparted(sql, batchSize), clock)
    // A departure may wait for a transaction that writes nothing, so no commit will announce its end.
    return false
  }
  const mark = async (signal: AbortSignal) => {
    const endMs = performance.now() + markingMs
    while (!signal.aborted && performance.now() < endMs && (await processAudits(sql)));
    while (!signal.aborted && performance.now() < endMs && (await applyMark(sql)));
    return performance.now() < endMs
  }
  const keep = async (signal: AbortSignal) => {
    while (!signal.aborted && (await countTotals(sql)));
    await inPortions(addedUpAtOnce, signal, () => addUpTotals(sql))
    // A user's totals may wait for a transaction that writes nothing, so no commit will announce its end.
    return false
  }
  return [
    { name: 'mark notifications', periodMs: 1_000, dueWhere: `${isAnyAudit} or ${isAnyMark}`, run: mark },
    { name: 'keep totals of notifications', periodMs: 1_000, dueWhere: isAnyTotal, run: keep },
    { name: 'delete notifications of deleted users', periodMs: 1_000, dueWhere: isAnyDeparture, run: forgetDeparted },
    { name: 'find apps with events to process', periodMs: 1_000, dueWhere: isAnyWaiting, run: () => notifier.poll() },
    {
      name: 'find events that stopped nodes have left',
      periodMs: sweepMs,
      dueWhere: 'true',
      run: () => notifier.sweep(),
    },
    { name: 'forget notifications', periodMs: 600_000, run: forget },
    termJob({ sql, waiting: () => apps.waitingAnywhere, observe: observeTerms }),
  ]
}
