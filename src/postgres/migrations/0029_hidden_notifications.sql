-- That a notification is not shown is known where it lies. To find it out anew for each list, all that is in the trash of
-- the deployment was looked at: a second for somebody with 200,000, 14 s for everybody's.
alter table notifications add column is_hidden boolean not null default false;

-- Changes after which notifications may be shown no more, or again: by what they are about (link, parent), the app in which
-- messages roll up (rolled), an app as a whole, one person's there (member), or one person's anywhere (user). A job looks at
-- the notifications of each, in portions; until then lists do so themselves.
create table notification_audits (
  id bigint generated always as identity primary key,
  kind text not null,
  app_id bigint,
  user_id bigint,
  entity_id bigint,
  -- Those up to here were looked at.
  after_id bigint not null default 0,
  -- When all transactions before it are over, nothing that was decided before the change is still to be written.
  next_xid xid8
);

create function audit_item() returns trigger language plpgsql as $$
begin
  insert into notification_audits (kind, app_id, entity_id) values ('link', new.app_id, new.id);
  if tg_table_name = 'messages' then
    insert into notification_audits (kind, app_id) values ('rolled', new.app_id);
  elsif tg_table_name <> 'comments' then
    insert into notification_audits (kind, app_id, entity_id) values ('parent', new.app_id, new.id);
  end if;
  return null;
end $$;
create trigger notifications_audited after update of trashed_at on messages for each row
  when (old.trashed_at is distinct from new.trashed_at) execute function audit_item();
create trigger notifications_audited after update of trashed_at on posts for each row
  when (old.trashed_at is distinct from new.trashed_at) execute function audit_item();
create trigger notifications_audited after update of trashed_at on comments for each row
  when (old.trashed_at is distinct from new.trashed_at) execute function audit_item();
create trigger notifications_audited after update of trashed_at on files for each row
  when (old.trashed_at is distinct from new.trashed_at) execute function audit_item();

create function audit_app() returns trigger language plpgsql as $$
begin
  insert into notification_audits (kind, app_id) values ('app', new.id);
  return null;
end $$;
create trigger notifications_audited after update of trashed_at, deleted_at, access, directory_id, owner_id on apps for each row
  when ((old.trashed_at is null) <> (new.trashed_at is null) or (old.deleted_at is null) <> (new.deleted_at is null)
    or old.access <> new.access or old.directory_id is distinct from new.directory_id
    or old.owner_id is distinct from new.owner_id)
  execute function audit_app();

-- Whoever is new in an app that is there has its own audit with the event of that: apps are made with thousands of members
-- who were told of nothing.
create function audit_member() returns trigger language plpgsql as $$
begin
  insert into notification_audits (kind, app_id, user_id)
  select 'member', old.app_id, old.user_id from apps a where a.id = old.app_id and a.deleted_at is null;
  return null;
end $$;
create trigger notifications_audited after update of access, hidden_id on members for each row
  when (old.access is distinct from new.access or old.hidden_id is distinct from new.hidden_id)
  execute function audit_member();
create trigger notifications_audited_gone after delete on members for each row
  when (old.access is not null) execute function audit_member();

-- Directories give access to apps whose default access they limit.
create function audit_directories() returns trigger language plpgsql as $$
begin
  insert into notification_audits (kind, user_id)
  select 'user', c.user_id from (select distinct user_id from changed) c
  where exists (select from notifications n where n.user_id = c.user_id);
  return null;
end $$;
create trigger notifications_audited_joined after insert on directory_members
  referencing new table as changed for each statement execute function audit_directories();
create trigger notifications_audited_left after delete on directory_members
  referencing old table as changed for each statement execute function audit_directories();

-- What somebody has marked as read, where that is much: these are read at once, and written as such in portions, those up to
-- the place `done` so far.
create table notification_marks (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  change_id bigint not null,
  ids bigint[] not null,
  done int not null default 0
);
create index notification_marks_user on notification_marks (user_id);
