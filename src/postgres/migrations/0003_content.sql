-- Messages, posts and comments have one shape. Counts say where it is worth looking for more: an item without
-- reactions, attachments, options, comments or stars costs no query for them.
create table messages (
  id bigint primary key,
  app_id bigint not null,
  -- What a comment is about: a post or a file. Null for what was made directly in the app.
  parent_type text,
  parent_id bigint,
  text text,
  -- Null where they follow from the text: most texts are a paragraph without anything to render.
  html text,
  plain text,
  metadata jsonb,
  tags text[] not null default '{}',
  embed_id bigint,
  meeting_id bigint,
  attachment_count int not null default 0,
  option_count int not null default 0,
  reaction_count int not null default 0,
  -- Comments on it: visible, and ever made.
  comment_count int not null default 0,
  made_count int not null default 0,
  star_count int not null default 0,
  created_at timestamptz not null,
  created_by bigint not null,
  updated_at timestamptz,
  updated_by bigint,
  trashed_at timestamptz
);
create table posts (like messages including defaults, primary key (id));
create table comments (like messages including defaults, primary key (id));

-- Pages of an app. Queries order by (app_id, id): by id alone, PostgreSQL may walk the primary key.
create index messages_app on messages (app_id, id);
create index posts_app on posts (app_id, id);
create index comments_app on comments (app_id, id);
create index comments_parent on comments (parent_id, id) where parent_id is not null;

-- What was edited, by when: lists that are ordered by it merge this with what never was, so that new items need no entry.
create index messages_edited on messages (app_id, updated_at, id) include (parent_id, trashed_at)
  where updated_at is not null;
create index posts_edited on posts (app_id, updated_at, id) include (parent_id, trashed_at)
  where updated_at is not null;
create index comments_edited on comments (app_id, updated_at, id) include (parent_id, trashed_at)
  where updated_at is not null;
create index comments_parent_edited on comments (parent_id, updated_at, id) include (trashed_at)
  where updated_at is not null and parent_id is not null;

-- What somebody has in the trash of an app.
create index messages_trash on messages (app_id, created_by, id) where trashed_at is not null;
create index posts_trash on posts (app_id, created_by, id) where trashed_at is not null;
create index comments_trash on comments (app_id, created_by, id) where trashed_at is not null;

-- One row for each 1,000 items made directly in an app (parent 0), or about a post or file of it: where and when the
-- block starts and how many of its items are not visible. A deep skip adds up blocks instead of walking over rows.
create table blocks (
  app_id bigint not null,
  parent_id bigint not null default 0,
  first_id bigint not null,
  made_at timestamptz not null,
  trashed_count int not null default 0,
  deleted_count int not null default 0,
  -- Of those that are left, how many were edited; and how many of these are in the trash. Nothing is kept of files.
  edited_count int not null default 0,
  edited_trashed_count int not null default 0,
  primary key (app_id, parent_id, first_id)
);

-- One row for each 1,000 edits in such a place: those made from first_at until the next one begins. Counted are the
-- items that were last edited then.
create table edit_blocks (
  app_id bigint not null,
  parent_id bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- Edits, those of items that were edited again included.
  made_count int not null,
  item_count int not null,
  trashed_count int not null,
  primary key (app_id, parent_id, first_at)
);

-- Comments on the posts and files of an app: those that are visible, on what is visible.
create table comment_totals (
  app_id bigint primary key,
  count bigint not null
) with (fillfactor = 50);
