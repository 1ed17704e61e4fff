import type { Command } from '../../../engine/command.ts'
import { server } from '../../../auth/principal.ts'
import { ignoreNotFound, NotFound } from '../../../lib/errors.ts'
import type { Job } from '../../../jobs/jobs.ts'
import type { Fragment, Sql } from '../../../postgres/sql.ts'
import type { JobParts } from '../../resource.ts'
import type { ContentTable } from '../store.ts'

/** The condition of a deletion for good. */
export interface Removal {
  id: number
  /** Only items trashed before this time; absent: any item, trashed or not. */
  trashedBefore?: Date
}

/** 404 where the item does not match, such as one that was restored meanwhile. */
export function requireMeant({ trashed_at }: { trashed_at: Date | null }, { trashedBefore }: Removal): void {
  if (trashedBefore !== undefined && (trashed_at === null || trashed_at >= trashedBefore)) throw NotFound()
}

interface Trash<Result, Loaded> {
  table: ContentTable | 'files'
  remove: Command<Removal, Result, Loaded>
  /** A condition on `t`, a row of the table: only its app can hide it. */
  isReachable?: (sql: Sql) => Fragment
}

/** Items per query. A guess. */
const batchSize = 100

/**
 * The job that deletes items which have been in the trash for long enough, one by one through the usual command, so
 * that all clients are told. Items hidden with their app or parent are deleted once these are back. Where several nodes
 * run it, each item is deleted once.
 */
export function emptyTrash<Result, Loaded>(trash: Trash<Result, Loaded>): (parts: JobParts) => Job[] {
  return ({ sql, apps, trashDays, past }) => {
    if (trashDays === 0) return []
    const run = async (signal: AbortSignal) => {
      const trashedBefore = new Date((await past()).getTime() - trashDays * 24 * 3_600_000)
      let removed = 0
      let items = await listTrashed(sql, trash, trashedBefore)
      while (items.length > 0) {
        for (const { id, app_id } of items) {
          if (signal.aborted) return removed
          // Deleted, restored or hidden meanwhile: nothing to do.
          await apps.run(trash.remove, app_id, server, { id, trashedBefore }).catch(ignoreNotFound)
          removed++
        }
        items = await listTrashed(sql, trash, trashedBefore, items.at(-1))
      }
      return removed
    }
    return [{ name: `empty the trash of ${trash.table}`, periodMs: 600_000, run }]
  }
}

interface TrashedRow {
  id: number
  app_id: number
  trashed_at: Date
}

/** Items after `last`, longest in the trash first. Served by messages_trashed and the like, which hold finite times. */
function listTrashed(
  sql: Sql,
  { table, isReachable }: Pick<Trash<unknown, unknown>, 'table' | 'isReachable'>,
  before: Date,
  last?: TrashedRow,
): Promise<TrashedRow[]> {
  return sql<TrashedRow[]>`
    select t.id, t.app_id, t.trashed_at
    from ${sql(table)} t join apps a on a.id = t.app_id
    where t.trashed_at < ${before} and t.trashed_at < 'infinity' and a.trashed_at is null and a.deleted_at is null
      ${last === undefined ? sql`` : sql`and (t.trashed_at, t.id) > (${last.trashed_at}, ${last.id})`}
      ${isReachable === undefined ? sql`` : sql`and ${isReachable(sql)}`}
    order by t.trashed_at, t.id limit ${batchSize}`
}
