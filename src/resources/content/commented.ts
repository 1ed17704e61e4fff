import { batch } from '../../postgres/batch.ts'
import type { Db, Fragment, Sql } from '../../postgres/sql.ts'

/** Records that a post or file was deleted, whose comments have to be removed. */
export const insertDeletedParent = batch({
  name: 'insert_deleted_parents',
  columns: { parent_id: 'bigint' },
  key: row => row.parent_id,
  sql: rows => `insert into deleted_parents (parent_id) select parent_id from ${rows} r on conflict do nothing`,
})

/** Changes the number of visible comments on the posts and files of apps. */
export const changeTotal = batch({
  name: 'change_comment_totals',
  columns: { app_id: 'bigint', comments: 'int' },
  sql: rows => `
    insert into comment_totals as t (app_id, count) select app_id, sum(comments) from ${rows} r group by app_id
    on conflict (app_id) do update set count = t.count + excluded.count`,
})

/** The number of visible comments on the posts and files of apps; null: of all apps in use. */
export async function sumOfTotals(db: Db, apps: number[] | null): Promise<number> {
  const isIn = apps === null ? db`true` : db`t.app_id = any(${apps}::bigint[])`
  // What is hidden is hashed where the apps are very many, and looked up for each of a few.
  const isLive =
    apps === null || apps.length > hashedApps
      ? db`(t.app_id in (select id from apps where trashed_at is not null or deleted_at is not null)) is not true`
      : db`exists (select from apps a where a.id = t.app_id and a.trashed_at is null and a.deleted_at is null)`
  const [row] = await db<{ count: number }[]>`
    select coalesce(sum(t.count), 0)::bigint as count from comment_totals t where ${isIn} and ${isLive}`
  return row!.count
}

/** Apps for which it pays to go through all that are hidden. A guess. */
const hashedApps = 500

/**
 * A condition on `t`, a row of comments: its parent exists and is not in the trash. Excludes the few hidden parents:
 * looking up each comment's parent took ten times as long to count a million. Served by posts_trash and
 * files_trashed.
 */
export function hasVisibleParent(db: Db): Fragment {
  return db`(t.parent_id is null or not exists (select from (${selectHidingParents(db)}) h where h.id = t.parent_id))`
}

/** `select id`: posts and files whose comments are hidden with them. */
export function selectHidingParents(db: Db): Fragment {
  return db`
    select id from posts where trashed_at is not null
    union all select id from files where trashed_at is not null
    union all select parent_id from deleted_parents`
}

/** A condition: there are comments of deleted posts or files to remove. */
export const isAnyOrphaned = `exists (select from deleted_parents)`

/** Selects up to `limit` comments of deleted posts and files. Served by comments_parent. */
export function selectOrphaned(db: Db, limit: number): Fragment {
  return db`
    select c.id from deleted_parents p join comments c on c.parent_id = p.parent_id
    order by c.parent_id, c.id limit ${limit} for update of c skip locked`
}

/** Removes up to `limit` records whose comments are all removed; returns how many. */
export async function removeSettled(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from deleted_parents where parent_id in (
      select p.parent_id from deleted_parents p
      where not exists (select from comments c where c.parent_id = p.parent_id)
      limit ${limit} for update skip locked)`
  return count
}
