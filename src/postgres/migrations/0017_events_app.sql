-- The events of an app by rev. The primary key had the time as well, which a partitioned table asks of one, and kept no
-- two events from having the same rev. With three numbers to an entry, PostgreSQL splits a full page in the middle where
-- events are appended to an app, and does not leave it full as it does with two: half of the index was empty.
alter table events drop constraint events_pkey;
create index events_app on events (app_id, rev);
