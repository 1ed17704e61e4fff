-- What somebody was told went with the user's row, in one transaction: 12.9 s for 200,000. It is deleted in portions now, by
-- a job that goes by this table, and notifications name their user without a constraint, which each new one was checked by.
create table notification_departures (
  user_id bigint primary key,
  -- When all transactions before it are over, none of them has a notification of the user still to write.
  next_xid xid8
);

create function note_departure() returns trigger language plpgsql as $$
begin
  insert into notification_departures (user_id) select id from gone on conflict do nothing;
  return null;
end $$;
create trigger notifications_departed after delete on users
  referencing old table as gone for each statement execute function note_departure();
alter table notifications drop constraint notifications_user_id_fkey;

-- What is about to be deleted is not looked at for whether it is hidden.
create or replace function audit_directories() returns trigger language plpgsql as $$
begin
  insert into notification_audits (kind, user_id)
  select 'user', c.user_id from (select distinct user_id from changed) c
  where exists (select from notifications n where n.user_id = c.user_id)
    and exists (select from users u where u.id = c.user_id);
  return null;
end $$;
