-- The words of content without their apps: who searches in very many apps, or in all with an API key, looked at all
-- content there is (12 s). Made from what is kept for searches in apps, and as these in the background. Some minutes for
-- ten million messages; meanwhile what follows from messages waits, and all else goes on.
create function words_of(terms tsvector) returns tsvector language plpgsql immutable parallel safe cost 100 as $body$
begin
  return array_to_tsvector(array(select ltrim(w, '0123456789') from unnest(tsvector_to_array(terms)) w));
end $body$;

create index messages_terms_everywhere on messages_terms using gin (words_of(terms));
create index posts_terms_everywhere on posts_terms using gin (words_of(terms));
create index comments_terms_everywhere on comments_terms using gin (words_of(terms));
-- What words are like is not to be worked out each time that the tables are analyzed.
alter index messages_terms_everywhere alter column 1 set statistics 0;
alter index posts_terms_everywhere alter column 1 set statistics 0;
alter index comments_terms_everywhere alter column 1 set statistics 0;
