-- What owners tell keys by: the first characters, unknown of keys made before, and when one was used last, to a minute.
alter table api_keys add column prefix text, add column last_used_at timestamptz;
