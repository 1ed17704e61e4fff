-- By default PostgreSQL cleans a table when a fifth of it is dead: two million rows of ten. Until then lists that are read
-- from an index alone look at the table's rows again: a page took 1.4 s instead of 0.15 after 50,000 messages were purged.
-- Tables that grow without end are cleaned after a hundredth, with their indexes, which is skipped for few rows otherwise;
-- and what was only added to them is noted as visible after a twentieth.
do $$
declare
  grows text;
begin
  foreach grows in array '{messages,posts,comments,files,file_versions,members,notifications,deliveries,reactions,votes,stars,users,directory_members,subscriptions}'::text[] loop
    execute format('alter table %I set (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.01, '
      'autovacuum_vacuum_insert_threshold = 10000, autovacuum_vacuum_insert_scale_factor = 0.05, '
      'vacuum_index_cleanup = on)', grows);
  end loop;
end $$;
