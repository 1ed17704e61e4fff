import type { Db, Fragment } from '../../../postgres/sql.ts'
import { isCounted } from '../rolled/store.ts'

/**
 * A condition on `n`, a row of notifications: the item that it is about exists, neither that item nor its parents are
 * in the trash, the notified user may read the item, and has not removed the chat since. It takes some microseconds for
 * each row: use it for those of one user. Each table is asked for one row by its key: for `exists`, PostgreSQL may read a
 * whole table and keep it in memory, where it expects many notifications.
 */
export function isShown(db: Db): Fragment {
  const isThere = (table: string, id = db`n.link_id`) =>
    db`(select t.trashed_at is null from ${db(table)} t where t.id = ${id})`
  return db`(
    (n.app_id is null or coalesce((
      select ${isReadable(db)} and not coalesce(${isRemoved(db)}, false)
      from apps a left join members m on m.app_id = a.id and m.user_id = n.user_id
      where a.id = n.app_id), false))
    and coalesce(case n.link_type
      when 'message' then case when n.from_id is null then ${isThere('messages')} else ${hasLeft(db)} end
      when 'post' then ${isThere('posts')}
      when 'comment' then ${isThere('comments')} and (
        n.parent_id is null or coalesce(${isThere('posts', db`n.parent_id`)}, ${isThere('files', db`n.parent_id`)}))
      when 'file' then ${isThere('files')}
      else true end, false))`
}

/**
 * A condition on an app `a` and the row `m` of the notification's user there, if any: the app is not in the trash, and
 * the user may read it. The SQL form of accessOf.
 */
function isReadable(db: Db): Fragment {
  return db`
    a.trashed_at is null and a.deleted_at is null and case
      when a.owner_id = n.user_id then true
      when m.access is not null then m.access <> 'none'
      else a.access <> 'none' and (a.directory_id is null or coalesce((
        select true from directory_members d where d.directory_id = a.directory_id and d.user_id = n.user_id), false)) end`
}

/** A condition on a rolled-up `n`: it stands for at least one message that its user can see. */
function hasLeft(db: Db): Fragment {
  return db`exists (
    select from messages m
    where m.app_id = n.app_id and m.id >= n.from_id and m.id <= coalesce(n.until_id, m.id)
      and m.id > coalesce((select hidden_id from members o where o.app_id = n.app_id and o.user_id = n.user_id), 0)
      and ${isCounted(db, db`n.user_id`)})`
}

/** A condition on `m` and `n`: the user removed the chat when it had nothing newer. */
function isRemoved(db: Db): Fragment {
  return db`m.hidden_id >= n.link_id and n.link_type <> 'app'`
}
