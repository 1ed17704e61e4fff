-- What makes a user (users.is_agent) an agent. Everything that people have as well is in users.
create table agents (
  user_id bigint primary key references users on delete cascade,
  provider text not null,
  model text not null,
  instructions text,
  -- Files apps to search. Those that were deleted are left out when it is read.
  knowledge bigint[] not null default '{}',
  web_search boolean not null default false,
  max_tokens int
);

-- Endpoints that an agent may call. `id` is the order in which they were added.
create table agent_functions (
  agent_id bigint not null references agents on delete cascade,
  name text not null,
  id bigint generated always as identity,
  description text not null,
  method text not null,
  url text not null,
  -- As they were given, in their order.
  headers json,
  parameters json,
  primary key (agent_id, name)
);

-- Tool servers (Model Context Protocol) that an agent may use.
create table agent_servers (
  agent_id bigint not null references agents on delete cascade,
  name text not null,
  id bigint generated always as identity,
  url text not null,
  description text,
  -- null: all of them.
  allowed_tools text[],
  approval_mode text not null,
  headers json,
  primary key (agent_id, name)
);
