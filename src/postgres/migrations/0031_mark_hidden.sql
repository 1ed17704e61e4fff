-- What was hidden before that was kept. It goes out from the little that hides notifications; what changes meanwhile has
-- its audit.
update notifications n set is_hidden = true where n.id in (
  select n.id from (
    select id from messages where trashed_at is not null
    union all select id from posts where trashed_at is not null
    union all select id from comments where trashed_at is not null
    union all select id from files where trashed_at is not null
  ) h join notifications n on n.link_id = h.id
  where n.link_type <> 'app'
  union
  select n.id from (
    select id from posts where trashed_at is not null
    union all select id from files where trashed_at is not null
    union all select parent_id from bereavements
  ) h join notifications n on n.parent_id = h.id
  where n.link_type = 'comment'
  union
  select n.id
  from notifications n
  left join apps a on a.id = n.app_id
  left join members m on m.app_id = n.app_id and m.user_id = n.user_id
  where n.app_id is not null and (
    a.id is null or a.trashed_at is not null or a.deleted_at is not null
    or coalesce(m.hidden_id >= n.link_id and n.link_type <> 'app', false)
    or case
      when a.owner_id = n.user_id then false
      when m.access is not null then m.access = 'none'
      else a.access = 'none' or (a.directory_id is not null and not exists (
        select from directory_members d where d.directory_id = a.directory_id and d.user_id = n.user_id)) end)
  union
  select n.id from notifications n left join members o on o.app_id = n.app_id and o.user_id = n.user_id
  where n.from_id is not null and not exists (
    select from messages m
    where m.app_id = n.app_id and m.id >= n.from_id and m.id <= coalesce(n.until_id, m.id)
      and m.id > coalesce(o.hidden_id, 0) and m.created_by <> n.user_id and m.trashed_at is null
      and (m.html is null or strpos(m.html, 'data-eid="u' || n.user_id || '"') = 0))
);
