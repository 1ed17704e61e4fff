-- Messages roll up: one notification stands for all messages of an app from from_id on that its user has not read, or,
-- once it is read, for those up to until_id. What it says is worked out when it is shown; its template and args hold what
-- the first of them said. Null for all other notifications, and those of messages have no link_id.
alter table notifications add column from_id bigint, add column until_id bigint;
create unique index notifications_rolled on notifications (app_id, user_id) where from_id is not null and is_unread;

-- When an app is to be looked through for people with unread messages: null while nothing has been written since. Up to
-- rolled_id that was done; of a crowd, the people up to rolled_to have been looked at for the messages after it.
alter table notification_cursors
  add column due_at timestamptz, add column rolled_id bigint not null default 0, add column rolled_to bigint not null default 0;
create index notification_cursors_due on notification_cursors (due_at) where due_at is not null;
