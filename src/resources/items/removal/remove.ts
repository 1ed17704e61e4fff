import type { Fragment, Sql } from '../../../postgres/sql.ts'
import type { ContentTable } from '../../content/store.ts'
import { partList } from '../parts.ts'

const singular = { messages: 'message', posts: 'post', comments: 'comment', files: 'file' } as const

/**
 * Deletes the items of a table whose ids `chosen` selects, with all that hangs on them, without events; how many there
 * were. For what no user sees any more: comments on what is deleted stay. `chosen` locks what it selects and skips what
 * is locked, so that several nodes may do it at once. Served by indexes that begin with what it hangs on.
 *
 * Files are named here because they are items as well: what hangs on attachments goes with them.
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
    ), starred as (
      delete from stars s using entities e where s.entity_id = e.id
    ), subscribed as (
      delete from subscriptions s using gone g where s.entity_id = g.id
    ), told as (
      delete from notifications n using entities e where n.link_id = e.id and n.link_type <> 'app'
    ), meant as (
      delete from item_context c using gone g where c.item_type = ${singular[table]} and c.item_id = g.id
    )
    ${table === 'files' ? sql`` : removePartsOf(sql, table)}
    select count(*) as count from gone`
  return row!.count
}

/** `, … as (…)` for all that items alone have. */
function removePartsOf(sql: Sql, table: ContentTable): Fragment {
  const terms = sql`, found as (delete from ${sql(`${table}_terms`)} t using gone g where t.id = g.id)`
  const ofParts = partList.flatMap(([, part]) => part.removeFromGone?.(sql, singular[table]) ?? [])
  return ofParts.reduce((all, one, i) => sql`${all}, ${sql(`part_${i}`)} as (${one})`, terms)
}
