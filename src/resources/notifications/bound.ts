import type { Sql } from '../../postgres/sql.ts'

/** A condition: there are notifications whose users have not been checked. */
export const isAnyUntrimmed = '(select trimmed_id from followed_position) < (select max(id) from notifications)'

/** New notifications whose users are checked, and notifications that are deleted, in one transaction. A guess: 20 ms. */
export const trimmedAtOnce = 200

/**
 * Checks the users of the next new notifications, and deletes what each has beyond `perUser`: the oldest that are read,
 * then the oldest. Returns `trimmedAtOnce` where more is to be done. A notification that is committed after one with a
 * larger id may be passed: its user is checked with the next one. Rows that are locked stay until then, too, so that it
 * waits for no other transaction. Any number of nodes may run it at once. Served by notifications_user.
 */
export function trimNext(sql: Sql, perUser: number): Promise<number> {
  return sql.begin(async tx => {
    const [position] = await tx<{ trimmed_id: number }[]>`
      select trimmed_id from followed_position for update skip locked`
    if (position === undefined) return 0
    const [row] = await tx<{ last: number | null; fresh: number; surplus: number; gone: number }[]>`
      with fresh as materialized (
        select id, user_id from notifications where id > ${position.trimmed_id} order by id limit ${trimmedAtOnce}
      ), crowded as materialized (
        select u.user_id, k.count - ${perUser}::bigint as excess from (select distinct user_id from fresh) u
        cross join lateral (select count(*) as count from notifications n where n.user_id = u.user_id) k
        where k.count > ${perUser}
      ), surplus as materialized (
        select o.id from crowded c
        cross join lateral (
          select n.id from notifications n where n.user_id = c.user_id order by n.is_unread, n.id limit c.excess) o
        limit ${trimmedAtOnce}
      ), gone as (
        delete from notifications where id in (
          select n.id from surplus join notifications n using (id) for update of n skip locked)
        returning id
      )
      select (select max(id) from fresh) as last, (select count(*) from fresh) as fresh,
        (select count(*) from surplus) as surplus, (select count(*) from gone) as gone`
    const { last, fresh, surplus, gone } = row!
    if (surplus === trimmedAtOnce && gone > 0) return surplus
    if (last !== null) await tx`update followed_position set trimmed_id = ${last}`
    return fresh
  })
}
