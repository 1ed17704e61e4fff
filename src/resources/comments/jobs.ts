import { inPortions } from '../../jobs/portions.ts'
import type { Job } from '../../jobs/jobs.ts'
import { emptyTrash } from '../content/removal/trash.ts'
import type { JobParts } from '../resource.ts'
import { removeItems } from '../items/removal/remove.ts'
import { commentCommands } from './kind.ts'
import { hasVisibleParent, isAnyOrphaned, removeSettled, selectOrphaned } from '../content/commented.ts'

/** Comments per delete, with all rows that refer to them: few enough that requests do not wait for it. A guess. */
const batchSize = 500

const emptyCommentTrash = emptyTrash({
  table: 'comments',
  remove: commentCommands.remove,
  isReachable: hasVisibleParent,
})

/**
 * Removes comments of deleted posts and files, which are invisible, and comments that have been in the trash for long
 * enough.
 */
export function jobs(parts: JobParts): Job[] {
  const { sql } = parts
  const run = async (signal: AbortSignal) => {
    const removed = await inPortions(batchSize, signal, () =>
      removeItems(sql, 'comments', selectOrphaned(sql, batchSize)),
    )
    await inPortions(batchSize, signal, () => removeSettled(sql, batchSize))
    return removed
  }
  const removal = { name: 'remove comments of what was deleted', periodMs: 2_000, dueWhere: isAnyOrphaned, run }
  return [removal, ...emptyCommentTrash(parts)]
}
