-- Files apps that some agent searches, and how far their changes were followed.
create table knowledge_apps (
  app_id bigint primary key,
  -- 0: all of its files are to be looked at.
  rev bigint not null default 0,
  followed_at timestamptz not null default now(),
  -- Since when no agent searches it.
  unused_since timestamptz
);

-- Agents that search anything.
create index agents_knowledge on agents (user_id) where knowledge <> '{}';

-- Who reads a file that is pending, until `at`.
alter table knowledge_files add column leased_by uuid;
create index knowledge_files_pending on knowledge_files (at) where state = 'pending';

-- Where in its file a passage is, such as a page.
alter table knowledge_passages add column place text;

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

-- The words of a question, each once, in their order.
create function question_words(q text) returns text[] language sql immutable parallel safe
  return array(
    select left(w, 100) from unnest(string_to_array(split_text(fold(q), E'\n'), E'\n')) with ordinality t(w, n)
    where w <> '' order by n);
