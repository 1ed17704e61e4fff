-- The uid that an app is to have instead of `known`, or an error where an app of another type has it: an agent chat never
-- shares one with others, which the indexes let pass. Such pairs from before stay.
create function free_uid(wanted text, known text, app_type text) returns text language plpgsql as $$
begin
  if wanted is null or wanted is not distinct from known then
    return wanted;
  end if;
  -- Until the commit: of two at once, the second then finds the first.
  perform pg_advisory_xact_lock(hashtextextended(lower(wanted), 7213004));
  if exists (
    select from apps
    where lower(uid) = lower(wanted) and deleted_at is null and type <> 'agent_chat' and app_type = 'agent_chat'
    union all
    select from apps
    where lower(uid) = lower(wanted) and deleted_at is null and type = 'agent_chat' and app_type <> 'agent_chat'
  ) then
    raise unique_violation using constraint = 'apps_uid', message = 'another app has this uid';
  end if;
  return wanted;
end $$;
