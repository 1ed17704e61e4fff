-- Which row each line of an imported file has become: an import that was interrupted goes on after what it has, and a newer
-- file of the same source adds what is new. Nothing else reads it, so its rows may be deleted when a move is over.
-- A new table: blocks nobody.
create table imported (
  -- Where the file says that it comes from.
  source text not null,
  -- The type of its line: directory, user, app, blob, message, post, comment or file.
  type text not null,
  -- The id of the line in the file.
  ref text not null,
  id bigint not null,
  primary key (source, ref, type)
);
