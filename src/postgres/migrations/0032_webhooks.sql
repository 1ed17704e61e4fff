-- The secret before the last one signs along for a while. A webhook may ask for more than one attempt; one that fails for
-- days then is disabled, with the reason.
alter table webhooks
  add column old_secret text,
  add column old_secret_until timestamptz,
  add column retries int not null default 0,
  add column failing_since timestamptz,
  add column disabled_reason text;
-- How often a delivery was attempted, and when it is to be attempted again; null where nothing has to be waited for.
alter table deliveries
  add column attempts int not null default 0,
  add column due_at timestamptz;
create index deliveries_due on deliveries (webhook_id) where status = 'queued' and due_at is not null;
create index deliveries_failed on deliveries (webhook_id, id) where status = 'failure';
