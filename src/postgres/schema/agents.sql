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
-- Agents that search anything.
create index agents_knowledge on agents (user_id) where knowledge <> '{}';

-- Endpoints that an agent may call. `id` is the order in which they were added.
create table agent_functions (
  agent_id bigint not null references agents on delete cascade,
  name text not null,
  id bigint generated always as identity,
  description text not null,
  method text not null,
  url text not null,
  -- `json` keeps both as they were given, in their order.
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
  -- Null: all of them.
  allowed_tools text[],
  approval_mode text not null,
  headers json,
  primary key (agent_id, name)
);

-- A run is one agent's work on one message, post or comment, its trigger; it is written by the commit of the trigger and
-- leased by the node that works on it. Written apart, a node that is killed between the two would leave a question unanswered.
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
  -- Which of several runs over a limit tells of it: the error code that its reply has. Of runs that are refused at the same
  -- time, on several nodes, exactly one takes the note; without it each of them finds that none has replied yet.
  note text,
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
  -- A trigger that is seen twice is answered once.
  unique (agent_id, item_type, item_id)
  -- A run under way is written every few seconds, and none of what changes then is in an index: with room in its page a
  -- new version needs no new entries in ten of them.
) with (fillfactor = 50);
create index agent_runs_due on agent_runs (due_at, id) where state in ('queued', 'running');
create index agent_runs_conversation on agent_runs (conversation, id) where state in ('queued', 'running');
create index agent_runs_running on agent_runs (agent_id, app_id) where state = 'running';
create index agent_runs_waiting on agent_runs (id) where state = 'waiting';
create index agent_runs_open on agent_runs (app_id, id) where state in ('queued', 'running', 'waiting');
create index agent_runs_app on agent_runs (app_id, id desc);
create index agent_runs_agent on agent_runs (agent_id, id desc);
create index agent_runs_item on agent_runs (item_id);
create index agent_runs_asker on agent_runs (asker_id, began_at);
create index agent_runs_app_began on agent_runs (app_id, began_at);
create index agent_runs_ended on agent_runs (ended_at);
create index agent_runs_note on agent_runs (note, began_at) where note is not null;

-- What was done in a run: one answer of a model, one call of a tool. A run that goes on after a crash replays them and calls
-- nothing twice.
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
-- What is left to be emptied.
create index agent_steps_filled on agent_steps (run_id) where body is not null;

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
  -- True where the item that asks says what became of the question.
  is_shown boolean not null default false,
  created_at timestamptz not null,
  unique (run_id, step)
);
create index agent_approvals_pending on agent_approvals (created_at) where state = 'pending';
create index agent_approvals_item on agent_approvals (item_id);
create index agent_approvals_unshown on agent_approvals (id) where not is_shown and state <> 'pending';

-- What a provider that keeps conversations itself calls them.
create table agent_threads (
  agent_id bigint not null,
  conversation text not null,
  thread text not null,
  used_at timestamptz not null,
  primary key (agent_id, conversation)
);

-- Files apps that some agent searches, and how far their changes were followed.
create table knowledge_apps (
  app_id bigint primary key,
  -- 0: all of its files are to be looked at.
  rev bigint not null default 0,
  followed_at timestamptz not null default now(),
  -- Since when no agent searches it.
  unused_since timestamptz
);

-- Files that agents search.
create table knowledge_files (
  file_id bigint primary key,
  app_id bigint not null,
  -- The version of the file that was read.
  rev bigint not null,
  -- pending, indexed, skipped, failed
  state text not null,
  error text,
  passages int not null default 0,
  at timestamptz not null,
  -- The node that reads a file that is pending, until `at`.
  leased_by uuid
);
create index knowledge_files_app on knowledge_files (app_id, file_id);
create index knowledge_files_pending on knowledge_files (at) where state = 'pending';

-- Their text in passages: a model is given those that match, because whole files are longer than what it reads.
create table knowledge_passages (
  file_id bigint not null,
  rev bigint not null,
  n int not null,
  text text not null,
  -- Where in its file it is, such as a page.
  place text,
  terms tsvector not null,
  primary key (file_id, n)
);
create index knowledge_passages_terms on knowledge_passages using gin (terms);
