-- What followed from commits before this rev is done, in every app: written some seconds behind, so that whatever a node
-- that was killed has left is found among the events that come after. At `at` these were still to come.
create table followed_position (
  single boolean primary key default true check (single),
  rev bigint not null,
  at timestamptz not null
);
-- Until now each commit noted its apps in notifiable, which are looked at as before.
insert into followed_position (rev, at)
select coalesce(max(rev), 0), now() - interval '1 minute' from events where created_at < now() - interval '1 minute';

-- Noted are from now on only the events that have to be looked at one by one.
comment on table notifiable is 'Apps with events that may notify people, each up to rev';
