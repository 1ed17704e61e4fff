import type { Db, Fragment } from '../../../postgres/sql.ts'
import { isCounted } from '../rolled/store.ts'

/**
 * A condition on `n`, a row of notifications: the item that it is about exists, neither that item nor its parents are
 * in the trash, the notified user may read the item, and has not removed the chat since. Its negation is stored as
 * `is_hidden`: see audits.ts.
 */
export function isShown(db: Db): Fragment {
  const isVisible = (table: string) =>
    db`exists (select from ${db(table)} t where t.id = n.link_id and t.trashed_at is null)`
  return db`(
    (n.app_id is null or exists (
      select from apps a left join members m on m.app_id = a.id and m.user_id = n.user_id
      where a.id = n.app_id and ${isReadable(db)} and not coalesce(${isRemoved(db)}, false)))
    and case n.link_type
      when 'message' then case when n.from_id is null then ${isVisible('messages')} else ${hasLeft(db)} end
      when 'post' then ${isVisible('posts')}
      when 'comment' then ${isVisible('comments')} and (
        n.parent_id is null
        or exists (select from posts p where p.id = n.parent_id and p.trashed_at is null)
        or exists (select from files f where f.id = n.parent_id and f.trashed_at is null))
      when 'file' then ${isVisible('files')}
      else true end)`
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
      else a.access <> 'none' and (a.directory_id is null or exists (
        select from directory_members d where d.directory_id = a.directory_id and d.user_id = n.user_id)) end`
}

/** A condition on a rolled-up `n`: it stands for at least one message that its user can see. */
function hasLeft(db: Db): Fragment {
  return db`exists (
    select from messages m
    where m.app_id = n.app_id and m.id >= n.from_id and m.id <= coalesce(n.until_id, m.id)
      and m.id > coalesce((select hidden_id from members o where o.app_id = n.app_id and o.user_id = n.user_id), 0)
      and ${isCounted(db, db`n.user_id`)})`
}

/** A condition on `m` and `n`: the user removed the chat when it had nothing newer. Served by members_hidden. */
function isRemoved(db: Db): Fragment {
  return db`m.hidden_id >= n.link_id and n.link_type <> 'app'`
}
