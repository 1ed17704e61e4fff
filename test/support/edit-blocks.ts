import type { Sql } from '../../src/postgres/sql.ts'

/** Keeps what the server would have kept of the edits of all items of a table, written past it. The blocks are full. */
export async function keepEdits(sql: Sql, table: 'messages' | 'posts' | 'comments'): Promise<void> {
  await sql`
    update blocks b set edited_count = e.count, edited_trashed_count = e.trashed
    from (
      select app_id, parent_id, first_id, count(*) as count, count(trashed_at) as trashed
      from ${sql(table)} t cross join lateral (
        select max(first_id) as first_id from blocks b
        where b.app_id = t.app_id and b.parent_id = coalesce(t.parent_id, 0) and b.first_id <= t.id
      ) own
      where updated_at is not null
      group by app_id, parent_id, first_id
    ) e
    where b.app_id = e.app_id and b.parent_id = coalesce(e.parent_id, 0) and b.first_id = e.first_id`
  await sql`
    insert into edit_blocks (app_id, parent_id, first_at, last_at, made_count, item_count, trashed_count)
    select app_id, parent_id, min(updated_at), max(updated_at), 1000, count(*), count(trashed_at)
    from (
      select app_id, coalesce(parent_id, 0) as parent_id, updated_at, trashed_at,
        dense_rank() over (partition by app_id, parent_id order by updated_at) / 100 as n
      from ${sql(table)} where updated_at is not null
    ) e
    group by app_id, parent_id, n`
}

/** Blocks, of items or of edits, that say something else of the edits of a table than its rows do. */
export async function listDrifted(sql: Sql, table: 'messages' | 'posts' | 'comments'): Promise<object[]> {
  const rows = await sql`
    with edited as (
      select app_id, coalesce(parent_id, 0) as parent_id, id, updated_at, trashed_at from ${sql(table)}
      where updated_at is not null
    )
    select * from (
      select 'made' as what, b.first_id::text as block, b.edited_count::bigint, b.edited_trashed_count::bigint,
        count(e.id) as count, count(e.trashed_at) as trashed
      from (
        select *, lead(first_id, 1, 9e15::bigint) over (partition by app_id, parent_id order by first_id) as next
        from blocks
      ) b
      left join edited e on e.app_id = b.app_id and e.parent_id = b.parent_id and e.id >= b.first_id and e.id < b.next
      group by b.app_id, b.parent_id, b.first_id, b.edited_count, b.edited_trashed_count
      union all
      select 'edited', b.first_at::text, b.item_count, b.trashed_count, count(e.id), count(e.trashed_at)
      from (
        select *, lead(first_at, 1, 'infinity') over (partition by app_id, parent_id order by first_at) as next
        from edit_blocks
      ) b
      left join edited e on e.app_id = b.app_id and e.parent_id = b.parent_id and e.updated_at >= b.first_at
        and e.updated_at < b.next
      group by b.app_id, b.parent_id, b.first_at, b.item_count, b.trashed_count
    ) b where edited_count <> count or edited_trashed_count <> trashed`
  return Array.from(rows)
}
