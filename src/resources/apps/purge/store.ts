import type { Sql } from '../../../postgres/sql.ts'

/** Apps that were deleted before some time and still have rows. Served by apps_deleted. */
export async function listDeleted(sql: Sql, before: Date, limit: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from apps where deleted_at < ${before} order by deleted_at limit ${limit}`
  return rows.map(({ id }) => id)
}

/** Waits for transactions that make notifications of these apps, and lets none begin. */
export async function removeCursors(sql: Sql, apps: number[]): Promise<void> {
  await sql`delete from notification_cursors where app_id = any(${apps}::bigint[])`
}

/** Removes up to `limit` notifications of apps; returns how many. Served by notifications_app. */
export async function removeNotificationsOf(sql: Sql, apps: number[], limit: number): Promise<number> {
  const { count } = await sql`
    delete from notifications where id in (
      select id from notifications where app_id = any(${apps}::bigint[]) limit ${limit} for update skip locked)`
  return count
}

/** Removes up to `limit` members of apps, with their markers; returns how many. Served by the primary key. */
export async function removeMembersOf(sql: Sql, apps: number[], limit: number): Promise<number> {
  const { count } = await sql`
    delete from members where (app_id, user_id) in (
      select app_id, user_id from members where app_id = any(${apps}::bigint[]) limit ${limit} for update skip locked)`
  return count
}

/**
 * Removes the apps that have no rows left, and that no other node has locked; returns how many. Queued deliveries get a
 * copy of what they contain of the apps, without what redactApp removes. Served by deliveries_queue.
 */
export async function removeApps(sql: Sql, apps: number[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with gone as (
      delete from apps a where a.id = any(${apps}::bigint[]) and a.deleted_at is not null
        and not exists (select from messages t where t.app_id = a.id)
        and not exists (select from posts t where t.app_id = a.id)
        and not exists (select from comments t where t.app_id = a.id)
        and not exists (select from files t where t.app_id = a.id and t.parent_id is null)
        and not exists (select from notifications t where t.app_id = a.id)
        and not exists (select from members t where t.app_id = a.id)
      returning a.*
    ), told_later as (
      update deliveries d
      set facts = d.facts || jsonb_build_object(
        'app', case when g.type = 'agent_chat' then to_jsonb(g) - 'name' else to_jsonb(g) end)
      from gone g where d.app_id = g.id and d.status = 'queued'
    ), blocks_gone as (
      delete from blocks b using gone g where b.app_id = g.id
    ), totals_gone as (
      delete from comment_totals t using gone g where t.app_id = g.id
    ), runs_gone as (
      delete from agent_runs r using gone g where r.app_id = g.id
    ), forgotten as (
      update agents set knowledge = array(
        select k.id from unnest(knowledge) with ordinality k(id, place)
        where k.id not in (select id from gone) order by k.place)
      where knowledge && array(select id from gone)
    )
    select count(*) as count from gone`
  return row!.count
}
