create table messages (
  id bigint primary key,
  app_id bigint not null,
  text text,
  html text,
  plain text,
  metadata jsonb,
  tags text[] not null default '{}',
  embed_id bigint,
  meeting_id bigint,
  created_at timestamptz not null,
  created_by bigint not null,
  updated_at timestamptz,
  updated_by bigint,
  trashed_at timestamptz
);
-- Pages of an app's messages. Queries order by (app_id, id): by id alone, PostgreSQL may walk the primary key.
create index messages_app on messages (app_id, id);

-- One row for each 1,000 items made in an app: where the block starts and how many of its items are not visible.
-- A deep skip adds up blocks instead of walking over rows.
create table blocks (
  app_id bigint not null,
  first_id bigint not null,
  trashed_count int not null default 0,
  deleted_count int not null default 0,
  primary key (app_id, first_id)
);

-- Lower case without accents, like fold() in storage/words.ts: what q is matched with.
create function fold(text) returns text language sql immutable strict parallel safe
  return lower(regexp_replace(normalize($1, nfkd), '[\u0300-\u036f]', '', 'g'));
