-- Who follows whom: a user follows people and agents.
create table follows (
  user_id bigint not null references users on delete cascade,
  followed_id bigint not null references users on delete cascade,
  created_at timestamptz not null,
  primary key (user_id, followed_id)
);
create index follows_followed on follows (followed_id, user_id);
