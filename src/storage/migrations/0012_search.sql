-- What q looks into: the folded words of content. Waiting entries are merged in larger portions than by default, because
-- rows come much more often than questions.
create index messages_search on messages using gin (to_tsvector('simple', fold(plain))) with (gin_pending_list_limit = 8192);
create index posts_search on posts using gin (to_tsvector('simple', fold(plain))) with (gin_pending_list_limit = 8192);
create index comments_search on comments using gin (to_tsvector('simple', fold(plain))) with (gin_pending_list_limit = 8192);
