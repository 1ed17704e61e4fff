import type { Fragment, Sql } from '../../../postgres/sql.ts'
import type { ContentTable } from '../store.ts'

const singular = { messages: 'message', posts: 'post', comments: 'comment', files: 'file' }

/**
 * Deletes the items of a table whose ids `chosen` selects, with all that hangs on them, without events; how many there
 * were. For what no user sees any more: comments on what is deleted stay. `chosen` locks what it selects and skips what
 * is locked, so that several nodes may do it at once. Served by indexes that begin with what it hangs on.
 */
export async function removeItems(sql: Sql, table: ContentTable | 'files', chosen: Fragment): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with gone as (
      delete from ${sql(table)} where id in (${chosen}) returning id
    ), attached as (
      delete from files f using gone g where f.parent_id = g.id returning f.id
    ), entities as (
      select id from gone union all select id from attached
    ), versions as (
      delete from file_versions v using entities e where v.file_id = e.id
    ), reacted as (
      delete from reactions r using gone g where r.item_id = g.id
    ), asked as (
      delete from options o using gone g where o.item_id = g.id
    ), voted as (
      delete from votes v using gone g where v.item_id = g.id
    ), starred as (
      delete from stars s using entities e where s.entity_id = e.id
    ), subscribed as (
      delete from subscriptions s using gone g where s.entity_id = g.id
    ${
      table === 'files'
        ? sql``
        : sql`), found as (
      delete from ${sql(`${table}_terms`)} t using gone g where t.id = g.id`
    }
    ), cited as (
      delete from item_annotations a using gone g where a.item_type = ${singular[table]} and a.item_id = g.id
    ), meant as (
      delete from item_context c using gone g where c.item_type = ${singular[table]} and c.item_id = g.id
    ), told as (
      delete from notifications n using entities e where n.link_id = e.id and n.link_type <> 'app'
    )
    select count(*) as count from gone`
  return row!.count
}
