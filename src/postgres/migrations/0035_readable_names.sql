-- Whoever has a token finds people by what it may read of them. Their mail addresses and the names that they sign in with
-- are among the words of users.search, which API keys search in: by beginnings of words, they could be spelled out.
create function person_terms(
  display_name text, name text, uid text, given_name text, middle_name text, family_name text, nickname text
) returns tsvector language sql immutable parallel safe
  return name_terms(display_name || ' ' || coalesce(name, '') || ' ' || coalesce(uid, '') || ' ' || coalesce(given_name, '')
    || ' ' || coalesce(middle_name, '') || ' ' || coalesce(family_name, '') || ' ' || coalesce(nickname, ''));

-- 10 s for a million people, while nobody is made or changed.
create index users_readable on users using gin (
  person_terms(display_name, name, uid, given_name, middle_name, family_name, nickname));
-- What names are like is not to be worked out each time that users are analyzed.
alter index users_readable alter column 1 set statistics 0;
