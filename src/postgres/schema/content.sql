-- Messages, posts and comments have one shape. Counts say where it is worth looking for more: an item without reactions,
-- attachments, options, comments or stars costs no query for them.
create table messages (
  id bigint primary key,
  app_id bigint not null,
  -- What a comment is about: a post or a file. Null for what was made directly in the app.
  parent_type text,
  parent_id bigint,
  text text,
  -- Null where they follow from the text: most texts are a paragraph without anything to render, and would be kept thrice.
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

-- Pages of an app. Queries order by (app_id, id): by id alone, PostgreSQL may walk the primary key through other apps.
create index messages_app on messages (app_id, id);
create index posts_app on posts (app_id, id);
create index comments_app on comments (app_id, id);
create index comments_parent on comments (parent_id, id) where parent_id is not null;

-- Lists of what one user has written, over all apps or some: each walks along what that user wrote, however much others did.
create index messages_author on messages (created_by, id);
create index posts_author on posts (created_by, id);
create index comments_author on comments (created_by, id);

-- What was edited, by when: lists that are ordered by it merge this with what never was, so that new items need no entry.
create index messages_edited on messages (app_id, updated_at, id) include (parent_id, trashed_at)
  where updated_at is not null;
create index posts_edited on posts (app_id, updated_at, id) include (parent_id, trashed_at)
  where updated_at is not null;
create index comments_edited on comments (app_id, updated_at, id) include (parent_id, trashed_at)
  where updated_at is not null;
create index comments_parent_edited on comments (parent_id, updated_at, id) include (trashed_at)
  where updated_at is not null and parent_id is not null;

-- What a user has in the trash of an app.
create index messages_trash on messages (app_id, created_by, id) where trashed_at is not null;
create index posts_trash on posts (app_id, created_by, id) where trashed_at is not null;
create index comments_trash on comments (app_id, created_by, id) where trashed_at is not null;

-- What is in the trash, by time: to empty it, and to find the little that hides its comments. Those of messages and posts
-- serve only a query that names a time. With `is not null`, and statistics from an empty trash, PostgreSQL took one of them
-- for whatever asked for the trash of some apps, and went through that of the whole deployment: 32 s in 20,000 apps.
create index messages_trashed on messages (trashed_at, id) where trashed_at < 'infinity';
create index posts_trashed on posts (trashed_at, id) where trashed_at < 'infinity';
create index comments_trashed on comments (trashed_at, id) where trashed_at is not null;

-- Starred items that are not visible, which lists of stars leave out: in the trash, or on something that is.
create index messages_hidden_star on messages (id) where trashed_at is not null and star_count > 0;
create index posts_hidden_star on posts (id) where trashed_at is not null and star_count > 0;
create index comments_hidden_star on comments (id) where trashed_at is not null and star_count > 0;
create index comments_star on comments (parent_id, id) where star_count > 0 and parent_id is not null;

-- Items that use an embed or a meeting: who may see these, and whether they are still of use, hangs on the items.
create index messages_embed on messages (embed_id) where embed_id is not null;
create index posts_embed on posts (embed_id) where embed_id is not null;
create index comments_embed on comments (embed_id) where embed_id is not null;
create index messages_meeting on messages (meeting_id) where meeting_id is not null;
create index posts_meeting on posts (meeting_id) where meeting_id is not null;
create index comments_meeting on comments (meeting_id) where meeting_id is not null;

-- One row for each 1,000 items made directly in an app (parent 0), or about a post or file of it: where the block
-- starts and how many of its items are not visible. A deep skip adds up blocks; without them it walks over rows.
create table blocks (
  app_id bigint not null,
  parent_id bigint not null default 0,
  first_id bigint not null,
  trashed_count int not null default 0,
  deleted_count int not null default 0,
  primary key (app_id, parent_id, first_id)
);

-- Comments on the posts and files of an app: those that are visible, on what is visible.
create table comment_totals (
  app_id bigint primary key,
  count bigint not null
) with (fillfactor = 50);

-- Posts and files that were deleted and whose comments are still to be removed. Readers leave out comments on these: the
-- comments themselves do not say that what they are about is gone.
create table deleted_parents (
  parent_id bigint primary key
);

-- The words of content, apart from it: they are made in the background, because making them takes as long as a third of
-- what else a message costs. Which items have none yet, or old ones, follows from notification_cursors.
create table messages_terms (
  id bigint primary key,
  terms tsvector not null
);
create table posts_terms (like messages_terms, primary key (id));
create table comments_terms (like messages_terms, primary key (id));
create index messages_terms_search on messages_terms using gin (terms);
create index posts_terms_search on posts_terms using gin (terms);
create index comments_terms_search on comments_terms using gin (terms);
-- For searches in very many apps, or in all: see words_of.
create index messages_terms_everywhere on messages_terms using gin (words_of(terms));
create index posts_terms_everywhere on posts_terms using gin (words_of(terms));
create index comments_terms_everywhere on comments_terms using gin (words_of(terms));
-- ANALYZE would work out the words of thousands of items each time, for statistics that no query uses.
alter index messages_terms_everywhere alter column 1 set statistics 0;
alter index posts_terms_everywhere alter column 1 set statistics 0;
alter index comments_terms_everywhere alter column 1 set statistics 0;
