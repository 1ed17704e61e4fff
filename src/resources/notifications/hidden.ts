import type { Db, Fragment } from '../../storage/sql.ts'
import { isCounted } from './rolled/store.ts'

/**
 * A condition on `n`, a row of notifications: what it is about is there, neither itself nor what holds it is in the trash,
 * the user may read it, and it is not of a chat that the user has removed since. Asked, so that it cannot drift.
 */
export function isShown(db: Db): Fragment {
  const isVisible = (table: string) =>
    db`exists (select from ${db(table)} t where t.id = n.link_id and t.trashed_at is null)`
  return db`
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
      else true end`
}

/**
 * The ids of those that `wanted`, a condition on `n`, holds for and that are not shown. It goes out from the little that
 * hides them: what is in the trash, or gone with its notifications still to follow. That takes 60 ms for 10,000 among
 * 300,000; to ask for each took 600. Served by notifications_link, notifications_parent and
 * notifications_app.
 */
export function selectHidden(db: Db, wanted: Fragment): Fragment {
  return db`
    select n.id from (
      select id from messages where trashed_at is not null
      union all select id from posts where trashed_at is not null
      union all select id from comments where trashed_at is not null
      union all select id from files where trashed_at is not null
    ) h join notifications n on n.link_id = h.id
    where n.link_type <> 'app' and ${wanted}
    union
    select n.id from (
      select id from posts where trashed_at is not null
      union all select id from files where trashed_at is not null
      union all select parent_id from bereavements
    ) h join notifications n on n.parent_id = h.id
    where n.link_type = 'comment' and ${wanted}
    union
    select n.id from apps a join notifications n on n.app_id = a.id
    where (a.trashed_at is not null or a.deleted_at is not null) and ${wanted}
    union
    select n.id from members m join notifications n on n.user_id = m.user_id and n.app_id = m.app_id
    where m.hidden_id is not null and ${isRemoved(db)} and ${wanted}
    union
    select n.id from (
      select distinct n.app_id, n.user_id from notifications n where n.app_id is not null and ${wanted}
    ) p
    left join apps a on a.id = p.app_id
    left join members m on m.app_id = p.app_id and m.user_id = p.user_id
    join notifications n on n.app_id = p.app_id and n.user_id = p.user_id
    where (${isReadable(db)}) is not true and ${wanted}
    union
    select n.id from notifications n where n.from_id is not null and ${wanted} and not (${hasLeft(db)})
    union
    select n.id from (${selectGone(db)}) h join notifications n on n.link_id = h.id where ${wanted} and not (${isShown(db)})
    union
    select n.id from (${selectGone(db)}) h join notifications n on n.parent_id = h.id where ${wanted} and not (${isShown(db)})`
}

/**
 * A condition on an app `a` and the row `m` that the user of a notification `n` has there, if any: it is not in the trash,
 * and the user may read it. See accessOf, which says the same of states.
 */
function isReadable(db: Db): Fragment {
  return db`
    a.trashed_at is null and a.deleted_at is null and case
      when a.owner_id = n.user_id then true
      when m.access is not null then m.access <> 'none'
      else a.access <> 'none' and (a.directory_id is null or exists (
        select from directory_members d where d.directory_id = a.directory_id and d.user_id = n.user_id)) end`
}

/** A condition on `n`, in which messages roll up: it stands for at least one that its user can see. */
function hasLeft(db: Db): Fragment {
  return db`exists (
    select from messages m
    where m.app_id = n.app_id and m.id >= n.from_id and m.id <= coalesce(n.until_id, m.id)
      and m.id > coalesce((select hidden_id from members o where o.app_id = n.app_id and o.user_id = n.user_id), 0)
      and ${isCounted(db, db`n.user_id`)})`
}

/** A condition on `m` and `n`: the user had removed the chat when it held nothing newer. Served by members_hidden. */
function isRemoved(db: Db): Fragment {
  return db`m.hidden_id >= n.link_id and n.link_type <> 'app'`
}

/** What was deleted, or changed, since the app's events were last looked at: nearly always nothing. */
function selectGone(db: Db): Fragment {
  return db`
    select e.id from notifiable o
    left join notification_cursors c on c.app_id = o.app_id
    cross join lateral (
      select entity_id as id from events
      where app_id = o.app_id and rev > coalesce(c.rev, 0) and type ~ '^(message|post|comment|file)_(deleted|updated)$'
    ) e`
}
