-- Mentions and reactions are few among what people are told. Lists of everybody's that ask for them walked past all else:
-- some seconds. Meanwhile nobody is told of anything new, but all else goes on.
create index notifications_typed on notifications (type, id) include (is_unread, is_hidden) where type <> 'activity';
