-- What agents do to answer. A run is one agent's work on one message, post or comment, its trigger; it is written by the
-- commit of the trigger and leased by the node that works on it.
create table agent_runs (
  id bigint generated always as identity primary key,
  agent_id bigint not null,
  app_id bigint not null,
  item_type text not null,
  item_id bigint not null,
  -- Of a comment: what it is about.
  parent_type text,
  parent_id bigint,
  asker_id bigint not null,
  -- Runs of one conversation wait for each other.
  conversation text not null,
  -- queued, running, waiting, done, failed, cancelled, merged, expired
  state text not null default 'queued',
  due_at timestamptz not null default now(),
  -- Claims after which the lease was lost.
  attempts int not null default 0,
  -- How often a person asked for it again after it had ended; part of the keys of its replies.
  retries int not null default 0,
  -- A person cancelled it and wants what was written so far.
  keeps_text boolean not null default false,
  leased_by uuid,
  leased_until timestamptz,
  -- As they were when it began.
  provider text,
  model text,
  error text,
  finish text,
  reply_type text,
  reply_id bigint,
  tokens_in int not null default 0,
  tokens_out int not null default 0,
  tokens_cached int not null default 0,
  rounds int not null default 0,
  calls int not null default 0,
  created_at timestamptz not null,
  began_at timestamptz,
  first_text_at timestamptz,
  ended_at timestamptz,
  -- Time worked, over all claims.
  busy_ms int not null default 0,
  unique (agent_id, item_type, item_id)
);
create index agent_runs_due on agent_runs (due_at, id) where state in ('queued', 'running');
create index agent_runs_conversation on agent_runs (conversation, id) where state in ('queued', 'running');
create index agent_runs_running on agent_runs (agent_id, app_id) where state = 'running';
create index agent_runs_open on agent_runs (app_id, id) where state in ('queued', 'running', 'waiting');
create index agent_runs_app on agent_runs (app_id, id desc);
create index agent_runs_agent on agent_runs (agent_id, id desc);
create index agent_runs_item on agent_runs (item_id);
create index agent_runs_asker on agent_runs (asker_id, began_at);
create index agent_runs_app_began on agent_runs (app_id, began_at);
create index agent_runs_ended on agent_runs (ended_at);

-- What was done in a run: one answer of a model, one call of a tool. What continues a run after a crash replays them.
create table agent_steps (
  run_id bigint not null references agent_runs on delete cascade,
  n int not null,
  -- model, function, mcp, search, approval
  kind text not null,
  name text,
  call_id text,
  -- Of a model: the vendor's blocks as they came. Of a call: its arguments and result. Emptied when the run ends.
  body json,
  -- ok, error, unknown; null while it is under way
  outcome text,
  began_at timestamptz not null,
  ended_at timestamptz,
  primary key (run_id, n)
);

-- Calls that a person has to approve.
create table agent_approvals (
  id bigint generated always as identity primary key,
  run_id bigint not null references agent_runs on delete cascade,
  -- The model's call, by its place among the steps.
  step int not null,
  server text not null,
  tool text not null,
  arguments json not null,
  -- SHA-256 of the server's URL, the tool and the arguments: what was approved is what is called.
  binding bytea not null,
  -- The reply that asks.
  item_type text,
  item_id bigint,
  -- pending, approved, declined, lapsed
  state text not null default 'pending',
  note text,
  decided_by bigint,
  decided_at timestamptz,
  created_at timestamptz not null,
  unique (run_id, step)
);
create index agent_approvals_pending on agent_approvals (created_at) where state = 'pending';
create index agent_approvals_item on agent_approvals (item_id);

-- Blobs that an item was sent with for agents to read. They are no attachments and are shown to nobody.
create table item_context (
  item_type text not null,
  item_id bigint not null,
  blob_ids bigint[] not null,
  created_at timestamptz not null,
  primary key (item_type, item_id)
);
create index item_context_age on item_context (created_at);

-- What a provider that keeps conversations itself calls them.
create table agent_threads (
  agent_id bigint not null,
  conversation text not null,
  thread text not null,
  used_at timestamptz not null,
  primary key (agent_id, conversation)
);

-- Files that contributed to an agent's answer, in the order in which it cites them.
create table item_annotations (
  item_type text not null,
  item_id bigint not null,
  place int not null,
  file_id bigint not null,
  primary key (item_type, item_id, place)
);
create index item_annotations_file on item_annotations (file_id);

-- Files that agents search, and their text in passages.
create table knowledge_files (
  file_id bigint primary key,
  app_id bigint not null,
  -- The version of the file that was read.
  rev bigint not null,
  -- pending, indexed, skipped, failed
  state text not null,
  error text,
  passages int not null default 0,
  at timestamptz not null
);
create index knowledge_files_app on knowledge_files (app_id, file_id);

create table knowledge_passages (
  file_id bigint not null,
  rev bigint not null,
  n int not null,
  text text not null,
  terms tsvector not null,
  primary key (file_id, n)
);
create index knowledge_passages_terms on knowledge_passages using gin (terms);
