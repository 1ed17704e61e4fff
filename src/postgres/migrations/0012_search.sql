-- What lists of content and files are searched by: the words of each item, and its tags, each with the app in front, so
-- that a search costs what it finds in its app, however much the others hold. Our functions are called by their full
-- names: by others, PostgreSQL finds none when it makes an index or restores a dump.
do $make$
begin
  execute format($function$
    create function search_terms(app_id bigint, plain text, tags text[]) returns tsvector
      language plpgsql immutable parallel safe cost 1000 as $body$
    declare
      terms text;
      words text[];
    begin
      -- Most texts are plain ASCII, for which nothing else needs to be called.
      if octet_length(plain) = length(plain) then
        terms := regexp_replace(lower(plain collate "C"), '[^a-z0-9]+' collate "C", E'\n' || app_id || ' ', 'g');
      else
        terms := %1$I.split_text(%1$I.fold(plain), E'\n' || app_id || ' ');
      end if;
      terms := app_id || ' ' || terms;
      -- PostgreSQL refuses lexemes above 2 KiB.
      if octet_length(terms) > 2000 then
        terms := regexp_replace(terms, '([^ \n]{100})[^ \n]+', '\1', 'g');
      end if;
      -- There is nothing to split where an item has no text, but attachments or a poll.
      words := coalesce(string_to_array(terms, E'\n'), '{}');
      if tags = '{}' then
        return array_to_tsvector(words);
      end if;
      return array_to_tsvector(
        words || array(select app_id || '#' || encode(convert_to(t, 'utf8'), 'hex') from unnest(tags) t));
    end $body$ $function$, current_schema());
end $make$;

-- Every word of `q`, as the beginning of a word, and any of the tags; `q` is null to look for tags alone. Null, which
-- finds nothing, where there is nothing to look for.
create function search_query(apps bigint[], q text, tags text[]) returns tsquery language sql immutable parallel safe
  return (
    select string_agg(concat_ws(' & ', words.terms, tagged.terms), ' | ')::tsquery
    from unnest(apps) app,
      lateral (
        select string_agg('''' || left(w, length(app || ' ') + 100) || ''':*', ' & ') as terms
        from unnest(tsvector_to_array(search_terms(app, q, '{}'))) w where w <> app || ' '
      ) words,
      lateral (
        select '(' || string_agg('''' || w || '''', ' | ') || ')' as terms
        from unnest(tsvector_to_array(search_terms(app, null, tags))) w
      ) tagged
    where words.terms is not null or q is null and tagged.terms is not null
  );

-- The terms of content, apart from it: they are made in the background, because making them takes as long as a third of
-- what else a message costs. Which items have none yet, or old ones, follows from notification_cursors.
create table messages_terms (
  id bigint primary key,
  terms tsvector not null
);
create table posts_terms (like messages_terms, primary key (id));
create table comments_terms (like messages_terms, primary key (id));
create index messages_terms_search on messages_terms using gin (terms);
create index posts_terms_search on posts_terms using gin (terms);
create index comments_terms_search on comments_terms using gin (terms);
create index files_search on files using gin (search_terms(app_id, name, tags)) where parent_id is null;
-- The same for searches in many apps at once: files are few beside messages.
create index files_search_all on files using gin (search_terms(0, name, tags)) where parent_id is null;
