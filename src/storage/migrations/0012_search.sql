-- What lists of content and files are searched by: the words of each item, and its tags, each with the app in front, so
-- that a search costs what it finds in its app, however much the others hold. Calls no function of ours: PostgreSQL looks
-- for none when it makes an index or gathers statistics.
create function search_terms(app_id bigint, plain text, tags text[]) returns tsvector
  language plpgsql immutable parallel safe cost 1000 as $$
declare
  glue text := E'\n' || app_id || ' ';
  terms text;
  words text[];
begin
  -- Most texts are plain ASCII, for which this takes a third of the time.
  if octet_length(plain) = length(plain) then
    terms := regexp_replace(lower(plain collate "C"), '[^a-z0-9]+' collate "C", glue, 'g');
  else
    -- Folded as by fold(); each character of scripts without spaces, and each pictograph, is a word.
    terms := regexp_replace(
      lower(regexp_replace(normalize(plain, nfkd), '[\u0300-\u036f]', '', 'g')),
      '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f\ufe00-\ufe0f]+'
        '|(?=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2600-\u27bf\u2e80-\u2fff\u3040-\u9fff\uf900-\ufaff\U0001f000-\U0003ffff])'
        '|(?<=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2600-\u27bf\u2e80-\u2fff\u3040-\u9fff\uf900-\ufaff\U0001f000-\U0003ffff])',
      glue, 'g');
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
end $$;

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
