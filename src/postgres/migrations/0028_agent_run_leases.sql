-- A run under way is written every few seconds, and none of what changes then is in an index: with room in its page a
-- new version needs no new entries in ten of them.
alter table agent_runs set (fillfactor = 50);
