-- What lists of content and files are searched by: the words of an item and its tags, each with the app in front. So a
-- search costs what it finds in its app, however much the others hold. The schema is named, because PostgreSQL finds no
-- function by its name alone when it makes an index or restores a dump.
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
        words || array(select app_id || '#' || encode(convert_to(%1$I.fold_name(t), 'utf8'), 'hex') from unnest(tags) t));
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

-- The words of `search_terms` without their apps. A search in very many apps, or in all with an API key, would have to ask
-- for each word once for each app: 12 s in ten million messages.
create function words_of(terms tsvector) returns tsvector language plpgsql immutable parallel safe cost 100 as $body$
begin
  return array_to_tsvector(array(select ltrim(w, '0123456789') from unnest(tsvector_to_array(terms)) w));
end $body$;

-- The words of a passage with their places, each with the app in front, as in search_terms; those of its file's name count
-- double (weight A).
create function passage_terms(app_id bigint, name text, body text) returns tsvector language sql immutable parallel safe
  return (
    select coalesce(string_agg(
      '''' || replace(replace(app_id || ' ' || left(w, 100), '\', '\\'), '''', '''''') || ''':' || least(n, 16000) || weight, ' '), '')::tsvector
    from (
      select w, n, 'A' as weight from unnest(string_to_array(split_text(fold(name), E'\n'), E'\n')) with ordinality t(w, n)
      union all
      select w, n + 300, 'D' from unnest(string_to_array(split_text(fold(body), E'\n'), E'\n')) with ordinality t(w, n)
    ) words
    where w <> '');

-- The words of a question in their order.
create function question_words(q text) returns text[] language sql immutable parallel safe
  return array(
    select left(w, 100) from unnest(string_to_array(split_text(fold(q), E'\n'), E'\n')) with ordinality t(w, n)
    where w <> '' order by n);
