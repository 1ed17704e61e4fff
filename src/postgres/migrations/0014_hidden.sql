-- Chats that somebody removed for themselves are few, and asked for with every page of notifications.
create index members_hidden on members (user_id, app_id) where hidden_id is not null;
