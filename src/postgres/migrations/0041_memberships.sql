-- What lists of somebody's apps and of what is in them ask of memberships is in the index, as far as it changes rarely: to
-- look at each row of 20,000 took longer than all else. Nothing that a message or a read marker changes is in it, so these
-- still touch no index of members.
create index members_listed on members (user_id, app_id) include (access, hidden_id, is_removed, pinned_at, archived_id);
drop index members_user;
alter index members_listed rename to members_user;
