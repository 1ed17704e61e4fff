import { inPortions, type Chore } from '../../storage/housekeeping.ts'
import type { ChoreParts } from '../resource.ts'
import { contentTables, listDeleted, removeApps, removeContentOf } from './purge-store.ts'

/** Items in one delete, with all that hangs on them: few enough that nobody waits for it. A guess. */
const batchSize = 500

const appsAtOnce = 20

/**
 * Removes what apps that were deleted have left. Nobody sees any of it, so it does not matter how long it takes; the
 * app's own row goes last, so that what was interrupted is found again.
 */
export function chores({ sql }: ChoreParts): Chore[] {
  const run = async (signal: AbortSignal) => {
    for (;;) {
      const apps = await listDeleted(sql, appsAtOnce)
      for (const table of contentTables) {
        await inPortions(batchSize, signal, () => removeContentOf(sql, table, apps, batchSize))
      }
      if (signal.aborted) break
      await removeApps(sql, apps)
      if (apps.length < appsAtOnce) break
    }
  }
  return [{ name: 'remove what is left of deleted apps', periodMs: 10_000, run }]
}
