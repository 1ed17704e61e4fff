-- Free-form properties of a meeting, as an embed has them. Nodes of before write none.
alter table meetings add column metadata jsonb;
