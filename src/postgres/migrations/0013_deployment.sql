-- Tells this database from others whose nodes share a Redis.
alter table environment add column deployment uuid not null default gen_random_uuid();
