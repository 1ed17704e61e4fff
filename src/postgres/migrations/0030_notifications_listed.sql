-- Apart from what else changes: meanwhile nobody is told of anything new, but all else goes on.
-- With all that lists are filtered and sorted by, so that they are counted, and skipped in, without looking at rows.
create index notifications_listed on notifications (user_id, id)
  include (app_id, created_at, type, action, is_unread, is_hidden);
create index notifications_hidden on notifications (id)
  include (user_id, app_id, created_at, type, action, is_unread) where is_hidden;
drop index notifications_user;
