import type { Job } from '../../jobs/jobs.ts'
import { inPortions } from '../../jobs/portions.ts'
import type { JobParts } from '../resource.ts'
import { removeExpiredGrants } from './grants/store.ts'
import { removeExpired } from './store.ts'

/** Rows in one delete: few enough that requests do not wait for it. A guess. */
const batchSize = 1000

export function jobs({ sql, past }: Pick<JobParts, 'sql' | 'past'>): Job[] {
  const run = async (signal: AbortSignal) => {
    const time = await past()
    const grants = await inPortions(batchSize, signal, () => removeExpiredGrants(sql, time, batchSize))
    return grants + (await inPortions(batchSize, signal, () => removeExpired(sql, time, batchSize)))
  }
  return [{ name: 'forget tokens', periodMs: 60_000, run }]
}
