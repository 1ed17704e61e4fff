import { batch, batchOfIds } from '../../postgres/batch.ts'
import { fromNearerEnd, orderBy } from '../../postgres/order.ts'
import type { Page } from '../../api/page.ts'
import type { Db, Fragment, Sql } from '../../postgres/sql.ts'
import { selectItems } from '../content/seen.ts'
import type { ReactionRow } from './schema.ts'

export const orderFields = ['id', 'created_at'] as const
export type OrderField = (typeof orderFields)[number]

/** Inserts reactions, each replacing the user's earlier one on its item. */
export const saveReaction = batch<ReactionRow>({
  name: 'save_reactions',
  columns: {
    item_id: 'bigint',
    user_id: 'bigint',
    id: 'bigint',
    app_id: 'bigint',
    content: 'text',
    created_at: 'timestamptz',
  },
  sql: (rows, columns) => `
    insert into reactions (${columns}) select ${columns} from ${rows} r
    on conflict (item_id, user_id) do update
    set id = excluded.id, content = excluded.content, created_at = excluded.created_at`,
})

export const removeReaction = batch<Pick<ReactionRow, 'item_id' | 'user_id'>>({
  name: 'remove_reactions',
  columns: { item_id: 'bigint', user_id: 'bigint' },
  sql: rows => `delete from reactions t using ${rows} r where t.item_id = r.item_id and t.user_id = r.user_id`,
})

/** Removes all reactions to deleted items. Served by the primary key. */
export const removeReactionsOf = batchOfIds(
  'remove_reactions_of',
  rows => `delete from reactions t using ${rows} r where t.item_id = r.id`,
)

/** The items among some that are visible, and whose parents are. Served by primary keys. */
export async function findShownItems(db: Db, ids: number[]): Promise<Map<number, true>> {
  const rows = await db<{ id: number; trashed_at: Date | null }[]>`${selectItems(db, db`t.id = any(${ids}::bigint[])`)}`
  return new Map(rows.filter(row => row.trashed_at === null).map(({ id }) => [id, true]))
}

/** A user's reaction to an item. Served by the primary key. */
export async function findReaction(db: Db, item: number, user: number): Promise<ReactionRow | null> {
  const [row] = await db<ReactionRow[]>`select * from reactions where item_id = ${item} and user_id = ${user}`
  return row ?? null
}

/**
 * The first reactions to each of some items, by item, oldest first, and that of the user `own`. Served by
 * reactions_order and the primary key.
 */
export async function listFirst(
  db: Db,
  items: number[],
  most: number,
  own: number | null,
): Promise<Map<number, ReactionRow[]>> {
  const theirs = own === null ? db`` : db`union select * from reactions where item_id = i.id and user_id = ${own}`
  const rows = await db<ReactionRow[]>`
    select r.* from unnest(${items}::bigint[]) as i(id)
    cross join lateral ((select * from reactions where item_id = i.id order by id limit ${most}) ${theirs}) r
    order by r.item_id, r.id`
  return Map.groupBy(rows, row => row.item_id)
}

/**
 * A page of the reactions to an item, all or with one emoji, and the total. Served by reactions_order, walked from the
 * nearer end.
 */
export async function listReactions(
  sql: Sql,
  { id: item, reaction_count }: { id: number; reaction_count: number },
  content: string | undefined,
  page: Page<OrderField>,
): Promise<{ rows: ReactionRow[]; count: number }> {
  // Reactions have neither names nor tags nor a trash.
  if (page.q !== undefined || page.tags.length > 0 || page.trashed === true) return { rows: [], count: 0 }
  const from = toSource(sql, item, content)
  const count = content === undefined ? reaction_count : await countOf(sql, from)
  if (page.countOnly || page.skip >= count) return { rows: [], count }
  const walk = fromNearerEnd(page, count)
  const rows = await sql<ReactionRow[]>`
    select * ${from} ${orderBy(sql, walk.order, { id: 'id', created_at: 'created_at' })}
    limit ${walk.limit} offset ${walk.offset}`
  return { rows: walk.restore(Array.from(rows)), count }
}

async function countOf(sql: Sql, from: Fragment): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*) as count ${from}`
  return row!.count
}

function toSource(sql: Sql, item: number, content: string | undefined): Fragment {
  return sql`from reactions where item_id = ${item} ${content === undefined ? sql`` : sql`and content = ${content}`}`
}
