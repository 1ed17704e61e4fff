import type { Sql } from '../../storage/sql.ts'

export const contentTables = ['messages', 'posts', 'comments', 'files'] as const

/** Apps that were deleted for good and still have rows. Served by apps_deleted. */
export async function listDeleted(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from apps where deleted_at is not null order by deleted_at limit ${limit}`
  return rows.map(({ id }) => id)
}

/**
 * Removes up to `limit` items of apps, with what hangs on them; how many there were. Comments on posts and files are
 * left to whoever removes the comments of deleted ones.
 */
export async function removeContentOf(
  sql: Sql,
  table: (typeof contentTables)[number],
  apps: number[],
  limit: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with gone as (
      delete from ${sql(table)} where id in (
        select id from ${sql(table)} where app_id = any(${apps}::bigint[]) and parent_id is null limit ${limit})
      returning id
    ), attached as (
      delete from files f using gone g where f.parent_id = g.id returning f.id
    ), versions as (
      delete from file_versions v using (select id from gone union all select id from attached) g where v.file_id = g.id
    ), reacted as (
      delete from reactions r using gone g where r.item_id = g.id
    ), asked as (
      delete from options o using gone g where o.item_id = g.id
    ), voted as (
      delete from votes v using gone g where v.item_id = g.id
    ), starred as (
      delete from stars s using (select id from gone union all select id from attached) g where s.entity_id = g.id
    ), subscribed as (
      delete from subscriptions s using gone g where s.entity_id = g.id
    ), bereft as (
      insert into bereavements (parent_id) select id from gone where ${table === 'posts' || table === 'files'}
      on conflict do nothing
    )
    select count(*) as count from gone`
  return row!.count
}

/** Removes apps whose content is gone, with their members. */
export async function removeApps(sql: Sql, apps: number[]): Promise<void> {
  await sql`
    with members_gone as (delete from members where app_id = any(${apps}::bigint[])),
      blocks_gone as (delete from blocks where app_id = any(${apps}::bigint[]))
    delete from apps where id = any(${apps}::bigint[]) and deleted_at is not null`
}
