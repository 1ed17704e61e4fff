-- The Idempotency-Key of the request that made an event, as it was sent: without it, a client that comes back could not tell
-- its own writes among what it has missed. `idempotency` has hashes of keys alone, and not for as long. The column is empty
-- in all rows that are there, so nothing is rewritten: writers wait for an instant, in which the table is locked.
alter table events add column key text;
