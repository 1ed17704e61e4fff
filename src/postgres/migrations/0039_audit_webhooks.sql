-- Webhooks are told of entries of the audit log in the commit that writes them, whatever writes them. As actor they name
-- the system: keys have no user. The id in the payload is a number as events have, for receivers to tell what comes again.
create function queue_audit_deliveries() returns trigger language plpgsql as $$
begin
  if not exists (select from webhooks where is_enabled and 'audit' = any(triggers)) then
    return null;
  end if;
  insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, facts, created_at)
  select w.id, e.event_id, 'audit', 'audit_entry_created', 0, 0,
    jsonb_build_object('entity_id', e.id, 'facts', e.entry, 'body', null, 'created_at', e.at), e.at
  from (
    select m.id, m.at, nextval('numbers') as event_id, to_jsonb(m) || jsonb_build_object('key_name', k.name) as entry
    from made m left join api_keys k on k.id = m.key_id
    order by m.id
  ) e
  cross join webhooks w
  where w.is_enabled and 'audit' = any(w.triggers)
  order by e.event_id, w.id;
  return null;
end $$;
create trigger audit_is_delivered after insert on audit
  referencing new table as made for each statement execute function queue_audit_deliveries();

create trigger audit_is_not_emptied before truncate on audit
  for each statement execute function refuse_change_of_audit();
