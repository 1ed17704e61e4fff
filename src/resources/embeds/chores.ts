import { inPortions, type Chore } from '../../storage/housekeeping.ts'
import type { ChoreParts } from '../resource.ts'
import { removeIdleEmbeds } from './store.ts'

/** How long an embed that no item has is kept. One that was found in use is looked at again after as long. A guess. */
const idleDays = 30

/** Embeds in one go: few enough that nobody waits for them. A guess. */
const batchSize = 500

/**
 * Removes embeds that came to nothing; their pictures go as all blobs do that nothing uses. Several nodes may do it at
 * once.
 */
export function chores({ sql, now }: Pick<ChoreParts, 'sql' | 'now'>): Chore[] {
  const run = async (signal: AbortSignal) => {
    const before = new Date(now().getTime() - idleDays * 24 * 3_600_000)
    await inPortions(batchSize, signal, () => removeIdleEmbeds(sql, before, now(), batchSize))
  }
  return [{ name: 'remove embeds that nothing uses', periodMs: 600_000, run }]
}
