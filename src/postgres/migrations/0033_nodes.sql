-- What each node says of itself: how it is, every ten seconds, and what it did again and again, every minute.
create table nodes (
  id uuid primary key,
  host text not null,
  version text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  figures jsonb not null,
  jobs jsonb not null default '[]'
);
-- The figures of each node, minute by minute, for charts.
create table samples (
  name text not null,
  minute timestamptz not null,
  node uuid not null,
  value double precision not null,
  primary key (name, minute, node)
);
create index samples_minute on samples using brin (minute);
-- What files take up, as it was counted last.
create table storage_totals (
  app_id bigint primary key,
  files bigint not null,
  bytes bigint not null,
  counted_at timestamptz not null
);
