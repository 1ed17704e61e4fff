-- An app of another type never shares a uid with an agent chat, which the indexes let pass. Such pairs from before stay.
create function refuse_shared_uid() returns trigger language plpgsql as $$
begin
  -- Until the commit: of two at once, the second then finds the first.
  perform pg_advisory_xact_lock(hashtextextended(lower(new.uid), 7213004));
  if exists (
    select from apps
    where lower(uid) = lower(new.uid) and deleted_at is null and type <> 'agent_chat' and new.type = 'agent_chat'
    union all
    select from apps
    where lower(uid) = lower(new.uid) and deleted_at is null and type = 'agent_chat' and new.type <> 'agent_chat'
  ) then
    raise unique_violation using constraint = 'apps_uid', message = 'another app has this uid';
  end if;
  return new;
end $$;
create trigger apps_uid_made before insert on apps
  for each row when (new.uid is not null) execute function refuse_shared_uid();
create trigger apps_uid_given before update of uid on apps
  for each row when (new.uid is distinct from old.uid and new.uid is not null) execute function refuse_shared_uid();
