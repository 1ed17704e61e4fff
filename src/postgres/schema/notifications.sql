-- What a user should know: few for each user, so that lists, totals, marks and words read them row by row. Ids and changes
-- come from one line.
create sequence notification_changes as bigint;
create table notifications (
  id bigint primary key,
  -- None is left of a deleted user, nor written for one that is being deleted. It adds 10 µs to each new row.
  user_id bigint not null references users on delete cascade,
  -- Where the entity is; null for what was made through the API without a link.
  app_id bigint,
  type text not null,
  action text not null,
  -- The newest actor first; several only where votes were rolled up.
  actor_ids bigint[] not null,
  template text not null,
  args text[] not null default '{}',
  link_type text,
  link_id bigint,
  parent_type text,
  parent_id bigint,
  -- Messages roll up: one notification stands for all messages of an app from from_id on that its user has not read, or,
  -- once it is read, for those up to until_id. What it says is worked out when it is shown; its template and args hold what
  -- the first of them said. Null for all other notifications, and those of messages have no link_id.
  from_id bigint,
  until_id bigint,
  metadata jsonb,
  is_unread boolean not null default true,
  created_at timestamptz not null,
  updated_at timestamptz,
  -- The last change of the row, and what realtime sessions are told of it.
  changed_id bigint not null,
  change text not null
) with (fillfactor = 80);
-- With what API keys filter by, so that those of all users are counted without looking at rows.
create index notifications_user on notifications (user_id, id) include (app_id, created_at, type, action, is_unread);
create index notifications_unread on notifications (user_id, app_id) where is_unread;
create index notifications_changed on notifications (user_id, changed_id);
create index notifications_link on notifications (link_id, user_id) where link_id is not null;
create index notifications_parent on notifications (parent_id, user_id) where parent_id is not null;
create index notifications_app on notifications (app_id, user_id, id) where app_id is not null;
create index notifications_age on notifications (created_at);
create unique index notifications_rolled on notifications (app_id, user_id) where from_id is not null and is_unread;
-- Mentions and reactions are few among all notifications. Lists of all users' that ask for them walked past the others: some
-- seconds.
create index notifications_typed on notifications (type, id) include (is_unread) where type <> 'activity';

-- What followed from commits before this rev is done, in every app: written some seconds behind, so that whatever a node
-- that was killed has left is found among the events that come after. At `at` these were still to come.
create table followed_position (
  single boolean primary key default true check (single),
  rev bigint not null,
  at timestamptz not null,
  -- Users with a notification up to this one were checked for whether they keep too many.
  trimmed_id bigint not null default 0
);
insert into followed_position (rev, at) values (0, now() - interval '1 minute');

-- Apps with events that have to be looked at one by one, each up to rev: written by the commit of the event, one row for each
-- app, so that nothing is missed and a lively app costs a commit no more than a quiet one. Removed when the cursor has
-- reached rev.
create table notifiable (
  app_id bigint primary key,
  rev bigint not null
) with (fillfactor = 50);

-- How far an app's events have become notifications: moved by the commit that writes those, so each event counts once.
-- Of the event after `rev`, the users up to `told_to` were told, in the order of their ids.
create table notification_cursors (
  app_id bigint primary key,
  rev bigint not null,
  told_to bigint not null default 0,
  -- When the app is to be looked through for users with unread messages: null while nothing has been written since. Up to
  -- rolled_id that was done; of a crowd, the users up to rolled_to have been looked at for the messages after it.
  due_at timestamptz,
  rolled_id bigint not null default 0,
  rolled_to bigint not null default 0
) with (fillfactor = 50);
create index notification_cursors_due on notification_cursors (due_at) where due_at is not null;
