import { inPortions } from '../../../jobs/portions.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { removeItems } from './remove.ts'

const tables = ['messages', 'posts', 'comments', 'files'] as const

/** Items per delete, with all rows that refer to them: few enough that requests do not wait for it. A guess. */
const batchSize = 200

/** Removes all content of deleted apps, without events. */
export async function removeContentOf(
  sql: Sql,
  apps: number[],
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<void> {
  for (const table of tables) await inPortions(batchSize, signal, () => removeSome(sql, table, apps, batchSize), clock)
}

/**
 * Removes up to `limit` items of apps, with all rows that refer to them; returns how many. Attachments go with their
 * items. Served by messages_app and the like.
 */
function removeSome(sql: Sql, table: (typeof tables)[number], apps: number[], limit: number): Promise<number> {
  return removeItems(
    sql,
    table,
    sql`
      select id from ${sql(table)}
      where app_id = any(${apps}::bigint[]) ${table === 'files' ? sql`and parent_id is null` : sql``}
      limit ${limit} for update skip locked`,
  )
}
