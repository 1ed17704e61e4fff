-- Who hears of what happens to a post or file. A row is made for whoever wrote, added or commented it, and changed by
-- choice alone: an automatic reason never overrides a row that is there. Apps keep theirs in members.
create table subscriptions (
  entity_id bigint not null,
  user_id bigint not null,
  entity_type text not null,
  is_subscribed boolean not null,
  -- A number from the line of the app's revs: events before it are told to those who were subscribed then.
  since bigint not null,
  primary key (entity_id, user_id)
);

-- What a person should know. Ids and changes come from one line.
create sequence notification_changes as bigint;
create table notifications (
  id bigint primary key,
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
  metadata jsonb,
  is_unread boolean not null default true,
  created_at timestamptz not null,
  updated_at timestamptz,
  -- The last change of the row, and what realtime sessions are told of it.
  changed_id bigint not null,
  change text not null
) with (fillfactor = 80);
-- With all that lists are filtered and sorted by, so that they are counted, and skipped in, without looking at rows.
create index notifications_user on notifications (user_id, id) include (app_id, created_at, type, action, is_unread);
create index notifications_unread on notifications (user_id, app_id) where is_unread;
create index notifications_changed on notifications (user_id, changed_id);
create index notifications_link on notifications (link_id, user_id) where link_id is not null;
create index notifications_parent on notifications (parent_id, user_id) where parent_id is not null;
create index notifications_app on notifications (app_id, user_id) where app_id is not null;
create index notifications_age on notifications (created_at);

-- The words of notifications, for those who have many: one row for all who are told the same of the same link, under the
-- id of the first of them. They are kept by a chore, so that telling costs nothing more; there may be too many of them.
create table notification_terms (
  id bigint primary key,
  link_id bigint,
  terms tsvector not null
);
create index notification_terms_search on notification_terms using gin (terms);
create index notification_terms_link on notification_terms (link_id);

-- What nobody is told any more leaves no words behind, whatever removes it.
create function forget_terms() returns trigger language plpgsql as $$
begin
  delete from notification_terms t using gone g where t.id = g.id and t.link_id is null;
  delete from notification_terms t using (select distinct link_id from gone) g
  where t.link_id = g.link_id and not exists (select from notifications n where n.link_id = g.link_id);
  return null;
end $$;
create trigger notifications_gone after delete on notifications
  referencing old table as gone for each statement execute function forget_terms();

-- Words are kept of the notifications up to `id`, and next of those up to `next_id`: when all transactions before
-- `next_xid` are over, none of them is still to be committed.
create table notification_terms_cursor (
  single boolean primary key default true check (single),
  id bigint not null,
  next_id bigint not null,
  next_xid xid8
);
insert into notification_terms_cursor (id, next_id) values (0, 0);

-- Apps with events that may notify somebody: written by the commit of the event, one row for each app, so that
-- nothing is missed and a lively app costs a commit no more than a quiet one. Removed when the cursor has reached rev.
create table notifiable (
  app_id bigint primary key,
  rev bigint not null
) with (fillfactor = 50);

-- How far an app's events have become notifications: moved by the commit that writes those, so each event counts once.
-- Of the event after `rev`, the people up to `told_to` were told, in the order of their ids.
create table notification_cursors (
  app_id bigint primary key,
  rev bigint not null,
  told_to bigint not null default 0
) with (fillfactor = 50);
