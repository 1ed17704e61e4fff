import { inPortions, type Chore } from '../../storage/housekeeping.ts'
import type { Sql } from '../../storage/sql.ts'
import { removeBereaved, removeSettled } from './store.ts'

/** Comments in one delete, with all that hangs on them: few enough that nobody waits for it. A guess. */
const batchSize = 500

/** Removes the comments of posts and files that were deleted. Nobody sees them any more, however long it takes. */
export function chores({ sql }: { sql: Sql }): Chore[] {
  const run = async (signal: AbortSignal) => {
    await inPortions(batchSize, signal, () => removeBereaved(sql, batchSize))
    await inPortions(batchSize, signal, () => removeSettled(sql, batchSize))
  }
  return [{ name: 'remove comments of what was deleted', periodMs: 2_000, run }]
}
