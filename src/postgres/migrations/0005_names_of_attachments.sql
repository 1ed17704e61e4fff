-- Names of attachments are searched by it, as those of files are by files_search_all. While it is made, about ten seconds for a
-- million attachments, no file can be added; without it such a search would look at each of them.
create index files_attached on files using gin (search_terms(0, name, '{}')) where parent_id is not null;
