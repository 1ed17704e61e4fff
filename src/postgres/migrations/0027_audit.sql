-- Who changed what: written in the transaction of the change, and never changed. Partitions of a month each are made and
-- dropped as time goes by; their rows go with them.
create sequence audit_ids;
create table audit (
  id bigint not null default nextval('audit_ids'),
  at timestamptz not null,
  -- key, server, or nobody, who did not get in
  actor_kind text not null,
  key_id bigint,
  -- The session of the administration page.
  session_id bigint,
  ip text,
  action text not null,
  target_type text,
  target_id bigint,
  target_name text,
  -- What was changed, as it was and as it is; secrets and texts as [changed].
  before jsonb,
  after jsonb,
  request_id text
) partition by range (at);
create index audit_id on audit (id);
create index audit_action on audit (action, id);
create index audit_target on audit (target_type, target_id, id);
create index audit_key on audit (key_id, id);

create function refuse_change_of_audit() returns trigger language plpgsql as $$
begin
  raise exception 'The audit log is append-only';
end $$;
create trigger audit_is_append_only before update or delete on audit
  for each row execute function refuse_change_of_audit();
