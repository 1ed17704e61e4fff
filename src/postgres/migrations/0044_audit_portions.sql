-- Who may see what in an app was brought up to date for one person in one transaction, however much that person was told of
-- there: 8 s for 200,000 notifications. A portion ends within a person now, after the notification that is named here.
-- `after_id` is for nodes of the version before.
alter table notification_audits
  add column last_user_id bigint not null default 0,
  add column last_id bigint not null default 0;
drop index notifications_app;
create index notifications_app on notifications (app_id, user_id, id) where app_id is not null;

-- A deleted user leaves all apps as well: what is about to be deleted is not looked at for whether it is hidden.
create or replace function audit_member() returns trigger language plpgsql as $$
begin
  insert into notification_audits (kind, app_id, user_id)
  select 'member', old.app_id, old.user_id from apps a
  where a.id = old.app_id and a.deleted_at is null and exists (select from users u where u.id = old.user_id);
  return null;
end $$;
