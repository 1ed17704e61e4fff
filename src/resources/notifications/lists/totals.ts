import type { Db, Fragment, Sql } from '../../../postgres/sql.ts'
import type { Outdated } from './audits.ts'

/**
 * From so many notifications on, those of a user are not counted for each list: 10,000 take 30 ms while rows have changed
 * since the last vacuum.
 */
export const manyNotifications = 10_000

/** Ids in a block, as notification_block divides them. */
const blockWidth = 2 ** 14

/** The visible notifications that match a filter, of a range of ids. */
export interface Block {
  block: number
  count: number
}

interface BlockFilter {
  user: number
  type?: string | undefined
  isUnread?: boolean | undefined
}

/** The blocks of a user in which something matches, in order; null where they are not kept. Marks are not considered. */
export async function findBlocks(db: Db, { user, type, isUnread }: BlockFilter): Promise<Block[] | null> {
  const rows = await db<(Block | { block: null })[]>`
    select b.block, b.count from notification_totals t
    left join lateral (
      select c.block, sum(c.count)::bigint as count from (
        select block, type, is_unread, count from notification_blocks where user_id = t.user_id
        union all
        select block, type, is_unread, added from notification_block_changes where user_id = t.user_id
      ) c
      where true ${type === undefined ? db`` : db`and c.type = ${type}`}
        ${isUnread === undefined ? db`` : db`and c.is_unread = ${isUnread}`}
      group by c.block having sum(c.count) <> 0
    ) b on true
    where t.user_id = ${user} and t.is_counted
    order by b.block`
  if (rows.length === 0) return null
  return rows.flatMap(row => (row.block === null ? [] : [row]))
}

/** With notifications in the blocks that they are shown in by now. */
export function correct(blocks: Block[], { hidden, shown }: Outdated): Block[] {
  const counts = new Map(blocks.map(({ block, count }) => [block, count]))
  const add = (id: number, added: number) => {
    const block = Math.floor(id / blockWidth)
    counts.set(block, (counts.get(block) ?? 0) + added)
  }
  for (const id of hidden) add(id, -1)
  for (const id of shown) add(id, 1)
  return [...counts].map(([block, count]) => ({ block, count })).toSorted((a, b) => a.block - b.block)
}

export function sum(blocks: Block[]): number {
  return blocks.reduce((total, { count }) => total + count, 0)
}

/** Where a page by id begins: at the end of a block, and so many rows further on. */
export interface Start {
  /** A condition on `n`. Compared as a row, so that the index is entered there. */
  isFrom: Fragment
  offset: number
}

/** `skip` must be below the sum of the blocks. */
export function toStart(
  db: Db,
  blocks: Block[],
  { user, skip, descending }: { user: number; skip: number; descending: boolean },
): Start {
  let offset = skip
  for (const { block, count } of descending ? blocks.toReversed() : blocks) {
    if (offset < count) {
      const isFrom = descending
        ? db`(n.user_id, n.id) < (${user}, ${(block + 1) * blockWidth})`
        : db`(n.user_id, n.id) >= (${user}, ${block * blockWidth})`
      return { isFrom, offset }
    }
    offset -= count
  }
  throw new RangeError(`Nothing is at ${skip}`)
}

/** From now on, the totals of a user are kept, as soon as they are counted. */
export async function keepTotals(db: Db, user: number): Promise<void> {
  await db`insert into notification_totals (user_id) select id from users where id = ${user} on conflict do nothing`
}

/** A condition: totals are to be counted, or to be added up. */
export const isAnyTotal =
  'exists (select from notification_totals where not is_counted) or exists (select from notification_block_changes)'

/** Changes that are summed by one statement. */
export const addedUpAtOnce = 10_000

/**
 * Counts the notifications of one user whose totals are to be kept; false where there is none now. Transactions that wrote
 * before the user was listed have noted no changes, so this waits until they have ended. Changes that are noted by then are
 * part of what is counted. Any number of nodes may run it at once. Served by notifications_listed.
 */
export async function countTotals(sql: Sql): Promise<boolean> {
  return sql.begin(async tx => {
    await tx`update notification_totals set next_xid = pg_current_xact_id() where next_xid is null`
    const [found] = await tx<{ user: number }[]>`
      select user_id as user from notification_totals
      where not is_counted and next_xid <= pg_snapshot_xmin(pg_current_snapshot())
      order by user_id limit 1 for no key update skip locked`
    if (found === undefined) return false
    const { user } = found
    await tx`
      with gone as (
        delete from notification_block_changes where user_id = ${user}
      ), counted as (
        insert into notification_blocks
        select user_id, notification_block(id), type, is_unread, count(*) from notifications
        where user_id = ${user} and not is_hidden group by 1, 2, 3, 4
      )
      update notification_totals set is_counted = true where user_id = ${user}`
    return true
  })
}

/** Adds changes to the blocks; returns how many. Any number of nodes may run it at once. */
export async function addUpTotals(sql: Sql): Promise<number> {
  const [row] = await sql<{ changes: number; empty: unknown }[]>`
    with known as materialized (
      -- Held, so that no deleted user is added to.
      select t.user_id from notification_totals t
      where t.is_counted and t.user_id in (select user_id from notification_block_changes)
      order by t.user_id for key share
    ), gone as (
      -- With those of deleted users.
      delete from notification_block_changes where ctid = any(array(
        select c.ctid from notification_block_changes c
        where not exists (select from notification_totals t where t.user_id = c.user_id and not t.is_counted)
        limit ${addedUpAtOnce} for update skip locked))
      returning *
    ), kept as (
      insert into notification_blocks as b
      select user_id, block, type, is_unread, sum(added) from gone join known using (user_id)
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
      on conflict (user_id, block, type, is_unread) do update set count = b.count + excluded.count
      returning *
    )
    select (select count(*) from gone) as changes, (select jsonb_agg(k) from kept k where count = 0) as empty`
  const { changes, empty } = row!
  if (empty !== null) {
    await sql`
      delete from notification_blocks b using jsonb_populate_recordset(null::notification_blocks, ${sql.json(empty as never)}) e
      where (b.user_id, b.block, b.type, b.is_unread) = (e.user_id, e.block, e.type, e.is_unread) and b.count = 0`
  }
  return changes
}
