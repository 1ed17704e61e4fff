import { inPortions, type Chore } from '../../storage/housekeeping.ts'
import type { ChoreParts } from '../resource.ts'
import { removeIdleMeetings } from './store.ts'

/** How long a meeting that no item has is kept. One that was found in use is looked at again after as long. A guess. */
const idleDays = 30

/** Meetings in one go: few enough that nobody waits for them. A guess. */
const batchSize = 500

/** Removes meetings that came to nothing. Several nodes may do it at once. */
export function chores({ sql, now }: Pick<ChoreParts, 'sql' | 'now'>): Chore[] {
  const run = async (signal: AbortSignal) => {
    const before = new Date(now().getTime() - idleDays * 24 * 3_600_000)
    await inPortions(batchSize, signal, () => removeIdleMeetings(sql, before, now(), batchSize))
  }
  return [{ name: 'remove meetings that nothing uses', periodMs: 600_000, run }]
}
