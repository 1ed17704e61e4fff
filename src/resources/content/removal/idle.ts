import { inPortions } from '../../../jobs/portions.ts'
import type { Job } from '../../../jobs/jobs.ts'
import type { Db } from '../../../postgres/sql.ts'
import type { JobParts } from '../../resource.ts'

/** A thing of which an item has at most one → the column that refers to it. */
const columns = { embeds: 'embed_id', meetings: 'meeting_id' } as const
type Table = keyof typeof columns

/** How long an unused one is kept, and when a used one is checked again. A guess. */
const idleDays = 30

/** Rows per transaction, few enough that requests do not wait for them. A guess. */
const batchSize = 500

/**
 * Removes unused embeds or meetings; pictures of embeds are removed like all unused blobs. Several nodes may run it at
 * once.
 */
export function idleJobs(table: Table) {
  return ({ sql, past }: Pick<JobParts, 'sql' | 'past'>): Job[] => {
    const run = async (signal: AbortSignal) => {
      const time = await past()
      const before = new Date(time.getTime() - idleDays * 24 * 3_600_000)
      return inPortions(batchSize, signal, () => removeIdle(sql, table, before, time))
    }
    return [{ name: `remove ${table} that nothing uses`, periodMs: 600_000, run }]
  }
}

/**
 * Of the rows not checked since `before`, deletes those that no item has, not even in the trash, and defers the others.
 * Returns how many were checked. Served by embeds_checked, messages_embed and the like.
 */
async function removeIdle(db: Db, table: Table, before: Date, now: Date): Promise<number> {
  const column = db(columns[table])
  const [row] = await db<{ count: number }[]>`
    with old as (
      select id from ${db(table)} where checked_at < ${before}
      order by checked_at limit ${batchSize} for update skip locked
    ), idle as (
      select id from old o
      where not exists (select from messages m where m.${column} = o.id)
        and not exists (select from posts p where p.${column} = o.id)
        and not exists (select from comments c where c.${column} = o.id)
    ), gone as (
      delete from ${db(table)} t using idle i where t.id = i.id
    ), kept as (
      update ${db(table)} t set checked_at = ${now} from old o where t.id = o.id and o.id not in (select id from idle)
    )
    select count(*) as count from old`
  return row!.count
}
