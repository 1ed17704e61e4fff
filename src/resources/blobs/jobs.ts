import { inPortions } from '../../jobs/portions.ts'
import type { Job } from '../../jobs/jobs.ts'
import { Renditions } from '../../media/renditions.ts'
import type { JobParts } from '../resource.ts'
import { areOrphanedBytesHeld, listOrphanedBytes, removeIdleBlobs, removeOrphanedBytes } from './store.ts'

const dayMs = 24 * 3_600_000

/** How long an unused blob is kept, and when a blob in use is checked again. */
const idleDays = 7

/** Longer than any upload takes. Bytes that are no blob by then never will be. */
const uploadDays = 1

/** Rows per transaction, few enough that requests do not wait for them. A guess. */
const batchSize = 500

const daysBefore = (time: Date, days: number) => new Date(time.getTime() - days * dayMs)

/** Removes blobs that nothing uses, and bytes that no blob holds. Several nodes may do it at once. */
export function jobs({ sql, bytes, past }: Pick<JobParts, 'sql' | 'bytes' | 'past'>): Job[] {
  const removeIdle = async (signal: AbortSignal) => {
    const time = await past()
    const before = daysBefore(time, idleDays)
    return inPortions(batchSize, signal, () => removeIdleBlobs(sql, before, time, batchSize))
  }
  const removeLoose = async (signal: AbortSignal) => {
    const before = daysBefore(await past(), uploadDays)
    const removed = await inPortions(batchSize, signal, async () => {
      const keys = await listOrphanedBytes(sql, before, batchSize)
      if (keys.length === 0 || (await areOrphanedBytesHeld(sql))) return 0
      await bytes.remove(keys.flatMap(key => [key, ...Renditions.keysOf(key)]))
      // Last: after a crash in between, they are found again.
      await removeOrphanedBytes(sql, keys)
      return keys.length
    })
    await bytes.sweep(before)
    return removed
  }
  return [
    { name: 'remove blobs that nothing uses', periodMs: 600_000, run: removeIdle },
    { name: 'remove bytes that no blob holds', periodMs: 600_000, run: removeLoose },
  ]
}
