-- What clients of the revisions of 2025 listen to at /mcp. They say it in requests of its own, which any node may get, and hear
-- of it on a stream, which another node may have. Clients of later revisions say it with the stream. A new table blocks nobody.
create table mcp_sessions (
  user_id bigint not null references users on delete cascade,
  session text not null,
  uris text[] not null,
  used_at timestamptz not null,
  primary key (user_id, session)
);
create index mcp_sessions_use on mcp_sessions (used_at);
