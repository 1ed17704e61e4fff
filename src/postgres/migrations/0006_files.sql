-- Files of files apps, and attachments of messages, posts and comments (with a parent). What is shown of the content
-- comes from the blob of the current version.
create table files (
  id bigint primary key,
  app_id bigint not null,
  parent_type text,
  parent_id bigint,
  -- The current version.
  rev bigint not null,
  name text not null,
  sort_name text generated always as (lower(name)) stored,
  -- Of the current version.
  size bigint not null,
  metadata jsonb,
  tags text[] not null default '{}',
  version_count int not null default 1,
  -- Comments on it: visible, and ever made.
  comment_count int not null default 0,
  made_count int not null default 0,
  star_count int not null default 0,
  created_at timestamptz not null,
  created_by bigint not null,
  updated_at timestamptz,
  updated_by bigint,
  changed_at timestamptz generated always as (coalesce(updated_at, created_at)) stored,
  trashed_at timestamptz
);
create unique index files_name on files (app_id, lower(name)) where parent_id is null and trashed_at is null;
create index files_app on files (app_id, id) where parent_id is null;
-- What lists of apps are sorted by: a deep page is walked to without looking at rows.
create index files_by_name on files (app_id, sort_name, id) include (trashed_at) where parent_id is null;
create index files_by_size on files (app_id, size, id) include (trashed_at) where parent_id is null;
create index files_by_creation on files (app_id, created_at, id) include (trashed_at) where parent_id is null;
create index files_by_change on files (app_id, changed_at, id) include (trashed_at) where parent_id is null;
create index files_parent on files (parent_id, id) where parent_id is not null;

create table file_versions (
  file_id bigint not null,
  rev bigint not null,
  app_id bigint not null,
  blob_id bigint not null references blobs,
  created_at timestamptz not null,
  created_by bigint not null,
  primary key (file_id, rev)
);
create index file_versions_blob on file_versions (blob_id);
