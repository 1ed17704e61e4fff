import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'

/** A condition: there are notifications of a deleted user to delete. */
export const isAnyDeparture = 'exists (select from notification_departures)'

/** A condition on `n`: its user exists. Notifications of deleted users are about to be deleted. */
export async function toExisting(db: Db): Promise<{ hasUser: Fragment }> {
  const [row] = await db<{ is_any: boolean }[]>`select exists (select from notification_departures) as is_any`
  const hasUser = row!.is_any ? db`n.user_id not in (select d.user_id from notification_departures d)` : db`true`
  return { hasUser }
}

/**
 * Deletes up to `limit` notifications of deleted users; returns how many. A user is done once none is left and all
 * transactions have ended that were running when the deletion was first seen, because they may still write
 * notifications. Any number of nodes may run it at once. Served by notifications_listed.
 */
export async function removeDeparted(sql: Sql, limit: number): Promise<number> {
  await sql`
    update notification_departures set next_xid = pg_current_xact_id()
    where user_id in (
      select user_id from notification_departures where next_xid is null order by user_id limit ${limit}
      for update skip locked)`
  const { count } = await sql`
    delete from notifications where id in (
      select t.id from notification_departures d
      cross join lateral (
        select n.id from notifications n where n.user_id = d.user_id
        order by n.user_id, n.id limit ${limit} for update skip locked) t
      limit ${limit})`
  await sql`
    delete from notification_departures d where user_id in (
      select d.user_id from notification_departures d
      where d.next_xid <= pg_snapshot_xmin(pg_current_snapshot())
        and not exists (select from notifications n where n.user_id = d.user_id)
      limit ${limit} for update of d skip locked)`
  return count
}
