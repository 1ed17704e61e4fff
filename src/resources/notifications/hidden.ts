import type { Db, Fragment } from '../../storage/sql.ts'

/**
 * A condition on `n`, a row of notifications: what it is about is there, neither itself nor what holds it is in the trash,
 * and it is not of a chat that the user has removed since. Asked, so that it cannot drift. An app that is gone took its
 * notifications along: it is looked for among the few that are hidden, because PostgreSQL may read all of the others.
 */
export function isShown(db: Db): Fragment {
  const isVisible = (table: string) =>
    db`exists (select from ${db(table)} t where t.id = n.link_id and t.trashed_at is null)`
  return db`
    not exists (select from apps a where a.id = n.app_id and (a.trashed_at is not null or a.deleted_at is not null))
    and not exists (select from members m where m.user_id = n.user_id and m.app_id = n.app_id and ${isRemoved(db)})
    and case n.link_type
      when 'message' then ${isVisible('messages')}
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
    where ${isRemoved(db)} and ${wanted}
    union
    select n.id from (${selectGone(db)}) h join notifications n on n.link_id = h.id where ${wanted} and not (${isShown(db)})
    union
    select n.id from (${selectGone(db)}) h join notifications n on n.parent_id = h.id where ${wanted} and not (${isShown(db)})`
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
