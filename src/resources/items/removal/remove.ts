import { inPortions } from '../../../jobs/portions.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Fragment, Sql } from '../../../postgres/sql.ts'
import type { ContentTable } from '../../content/store.ts'
import { partList } from '../parts.ts'

/** Items of apps per delete, with all rows that refer to them: few enough that requests do not wait for it. A guess. */
const batchSize = 200

const singular = { messages: 'message', posts: 'post', comments: 'comment', files: 'file' } as const

/**
 * Deletes the items that `chosen` selects, with all rows that refer to them, without events; returns how many. For
 * invisible items; comments on deleted items stay. `chosen` locks its rows and skips locked ones, so that several nodes
 * may run it at once. Served by indexes on the item.
 *
 * Files are included because they are items too: rows that refer to attachments go with them.
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

/** `, … as (…)` for all parts of content. */
function removePartsOf(sql: Sql, table: ContentTable): Fragment {
  const terms = sql`, found as (delete from ${sql(`${table}_terms`)} t using gone g where t.id = g.id)`
  const ofParts = partList.flatMap(([, part]) => part.removeFromGone?.(sql, singular[table]) ?? [])
  return ofParts.reduce((all, one, i) => sql`${all}, ${sql(`part_${i}`)} as (${one})`, terms)
}

/** Removes all content of deleted apps, without events. Attachments go with their items. Served by messages_app. */
export async function removeContentOf(
  sql: Sql,
  apps: number[],
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<void> {
  for (const table of ['messages', 'posts', 'comments', 'files'] as const) {
    const some = () => sql`
      select id from ${sql(table)}
      where app_id = any(${apps}::bigint[]) ${table === 'files' ? sql`and parent_id is null` : sql``}
      limit ${batchSize} for update skip locked`
    await inPortions(batchSize, signal, () => removeItems(sql, table, some()), clock)
  }
}
