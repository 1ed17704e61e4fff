import { batch } from '../../postgres/batch.ts'
import type { Db, Fragment, Sql } from '../../postgres/sql.ts'

/** Notes that a post or file is gone, whose comments are to go as well. */
export const insertBereavement = batch<{ parent_id: number }>({
  name: 'insert_bereavements',
  columns: { parent_id: 'bigint' },
  key: row => row.parent_id,
  sql: rows => `insert into bereavements (parent_id) select parent_id from ${rows} r on conflict do nothing`,
})

/** Moves the number of visible comments on the posts and files of apps. */
export const changeTotal = batch<{ app_id: number; comments: number }>({
  name: 'change_comment_totals',
  columns: { app_id: 'bigint', comments: 'int' },
  sql: rows => `
    insert into comment_totals as t (app_id, count) select app_id, sum(comments) from ${rows} r group by app_id
    on conflict (app_id) do update set count = t.count + excluded.count`,
})

/** How many visible comments the posts and files of apps have in all; null for all apps that are in use. */
export async function sumOfTotals(db: Db, apps: number[] | null): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select coalesce(sum(t.count), 0)::bigint as count
    from comment_totals t join apps a on a.id = t.app_id
    where a.trashed_at is null and a.deleted_at is null
      ${apps === null ? db`` : db`and t.app_id = any(${apps}::bigint[])`}`
  return row!.count
}

/**
 * A condition on `t`, a row of comments: what it is about is there and not in the trash. Looks for the few parents that
 * hide their comments: looking for each one's parent took ten times as long to count a million. Served by
 * posts_trashed and files_trashed.
 */
export function hasVisibleParent(db: Db): Fragment {
  return db`(t.parent_id is null or not exists (select from (${selectHidingParents(db)}) h where h.id = t.parent_id))`
}

/** `select id`: posts and files that hide their comments. */
export function selectHidingParents(db: Db): Fragment {
  return db`
    select id from posts where trashed_at is not null
    union all select id from files where trashed_at is not null
    union all select parent_id from bereavements`
}

/** A condition: posts or files were deleted whose comments are still there. */
export const isAnyBereaved = `exists (select from bereavements)`

/** Up to `limit` comments of posts and files that are gone. Served by comments_parent. */
export function selectBereaved(db: Db, limit: number): Fragment {
  return db`
    select c.id from bereavements b join comments c on c.parent_id = b.parent_id
    order by c.parent_id, c.id limit ${limit} for update of c skip locked`
}

/** Forgets up to `limit` of those that have no comments left; how many there were. */
export async function removeSettled(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from bereavements where parent_id in (
      select b.parent_id from bereavements b
      where not exists (select from comments c where c.parent_id = b.parent_id)
      limit ${limit} for update skip locked)`
  return count
}
