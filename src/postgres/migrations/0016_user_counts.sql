-- How many users there are: lists name it with every page, and to count 100,000 took 20 ms. In parts, which add up to it:
-- whoever adds a user holds its part until the commit, so that others who do so at the same time take another one.
create table user_counts (
  part int primary key,
  count bigint not null
) with (fillfactor = 50);

create function count_users() returns trigger language plpgsql as $$
begin
  update user_counts u set count = u.count + c.added
  from (select case tg_op when 'INSERT' then 1 else -1 end * count(*) as added from changed where id >= 1) c
  where u.part = pg_backend_pid() % 16 and c.added <> 0;
  return null;
end $$;
create trigger users_made after insert on users
  referencing new table as changed for each statement execute function count_users();
create trigger users_gone after delete on users
  referencing old table as changed for each statement execute function count_users();

-- After the triggers, which wait for others who write to users and make them wait until this is committed.
insert into user_counts
select part, case part when 0 then (select count(*) from users where id >= 1) else 0 end from generate_series(0, 15) part;
