-- How many notifications a user with very many has is kept, for each block of ids: to count them took 0.6 s wherever rows
-- had changed since the last vacuum, and so did every other row of a page in their middle. What is written here for users
-- with few is nothing.
create function notification_block(id bigint) returns bigint language sql immutable parallel safe as 'select id >> 14';

-- The users of whom that is so, on request. `is_counted` once the blocks hold what there is; from then on, and for as long as
-- the row was seen by all transactions that write, they follow what changes.
create table notification_totals (
  user_id bigint primary key references users on delete cascade,
  -- When all transactions before it are over, whatever is written has its changes noted.
  next_xid xid8,
  is_counted boolean not null default false
);

-- Visible notifications, whatever marks say of them.
create table notification_blocks (
  user_id bigint not null references notification_totals on delete cascade,
  block bigint not null,
  type text not null,
  is_unread boolean not null,
  count bigint not null,
  primary key (user_id, block, type, is_unread)
) with (fillfactor = 50);
-- What is to be added to them. Rows are only inserted here, so that no transaction waits for another one, and a job adds
-- them up.
create table notification_block_changes (
  user_id bigint not null,
  block bigint not null,
  type text not null,
  is_unread boolean not null,
  added bigint not null
);
create index notification_block_changes_user on notification_block_changes (user_id);

create function count_notifications() returns trigger language plpgsql as $$
begin
  if exists (select from notification_totals) then
    insert into notification_block_changes
    select c.user_id, notification_block(c.id), c.type, c.is_unread, case tg_op when 'INSERT' then 1 else -1 end * count(*)
    from changed c join notification_totals t on t.user_id = c.user_id
    where not c.is_hidden
    group by 1, 2, 3, 4;
  end if;
  return null;
end $$;
create trigger notifications_counted_made after insert on notifications
  referencing new table as changed for each statement execute function count_notifications();
create trigger notifications_counted_gone after delete on notifications
  referencing old table as changed for each statement execute function count_notifications();

create function count_changed_notifications() returns trigger language plpgsql as $$
begin
  if exists (select from notification_totals) then
    insert into notification_block_changes
    select c.user_id, notification_block(c.id), c.type, c.is_unread, sum(c.added)
    from (
      select user_id, id, type, is_unread, -1 as added from before where not is_hidden
      union all select user_id, id, type, is_unread, 1 from after where not is_hidden
    ) c join notification_totals t on t.user_id = c.user_id
    group by 1, 2, 3, 4
    having sum(c.added) <> 0;
  end if;
  return null;
end $$;
create trigger notifications_counted_changed after update on notifications
  referencing old table as before new table as after for each statement execute function count_changed_notifications();

-- After the triggers, which wait for transactions that write notifications and make them wait until this is committed.
insert into notification_totals (user_id)
select user_id from notifications where user_id in (select id from users) group by user_id having count(*) >= 10000;
