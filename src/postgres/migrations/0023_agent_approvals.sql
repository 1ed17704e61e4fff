-- The item that asks says what became of the question: true where it does.
alter table agent_approvals add column is_shown boolean not null default false;
create index agent_approvals_unshown on agent_approvals (id) where not is_shown and state <> 'pending';
create index agent_runs_waiting on agent_runs (id) where state = 'waiting';
-- What is left to be emptied.
create index agent_steps_filled on agent_steps (run_id) where body is not null;
