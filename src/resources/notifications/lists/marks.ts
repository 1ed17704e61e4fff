import type { Db, Fragment, Sql, Tx } from '../../../postgres/sql.ts'
import type { Change } from '../schema.ts'

/**
 * Notifications written in one transaction; the rest follows later. They are scattered over tables and indexes: 500 changed
 * 1,200 pages (measured), which just after a checkpoint are written to the log as a whole, 10 MB that all other commits
 * wait for.
 */
const portionSize = 100

/** The most marks that lists of all users consider. Nearly always there is none; a mark lasts some seconds. */
const openMarks = 100

export interface Marking {
  user: number
  /** This notification and all earlier ones. */
  upTo?: number | undefined
  app?: number | undefined
  directory?: number | undefined
}

/**
 * Marks unread notifications as read; false where there were none. It is one change with one number. Each rewritten row
 * gets an entry in all indexes, 3.4 s for 40,000: so only the newest are rewritten, and the ids of the others are
 * stored as a mark, which makes them read at once. `applyMark` rewrites them later.
 */
export async function markRead(tx: Tx, { user, upTo, app, directory }: Marking): Promise<boolean> {
  if (!(await hasUnread(tx, user))) return false
  const { isUnread } = await toUnread(tx, user)
  const [found] = await tx<{ ids: string; count: number }[]>`
    select array_agg(n.id order by n.id desc)::text as ids, count(*) as count from notifications n
    where n.user_id >= ${user} and n.user_id <= ${user} and ${isUnread}
      ${upTo === undefined ? tx`` : tx`and n.id <= ${upTo}`}
      ${app === undefined ? tx`` : tx`and n.app_id = ${app}`}
      ${directory === undefined ? tx`` : tx`and n.app_id in (select a.id from apps a where a.directory_id = ${directory})`}`
  const { ids, count } = found!
  if (count === 0) return false
  const [change] = await tx<{ id: number }[]>`select nextval('notification_changes') as id from pg_current_xact_id()`
  await writeRead(tx, { user, change: change!.id, ids: tx`(${ids}::text::bigint[])[:${portionSize}::int]` })
  if (count > portionSize) {
    await tx`
      insert into notification_marks (user_id, change_id, ids)
      values (${user}, ${change!.id}, (${ids}::text::bigint[])[${portionSize + 1}::int:])`
  }
  return true
}

/**
 * False where nothing is kept as unread. In the order of notifications_unread, which has nothing else: just after
 * 44,000 were written as read, another request to mark them waited 0.9 s while all rows of the user were read.
 */
async function hasUnread(db: Db, user: number): Promise<boolean> {
  const rows = await db`
    select from notifications where user_id = ${user} and is_unread order by user_id, app_id limit 1`
  return rows.length > 0
}

interface Reading {
  user: number
  change: number
  ids: Fragment
}

/** Skips notifications that have changed since, such as marked as unread again. */
async function writeRead(tx: Tx, { user, change, ids }: Reading): Promise<void> {
  await tx`
    update notifications n
    set is_unread = false, until_id = ${untilNow(tx)}, changed_id = ${change},
      change = ${'notifications_marked' satisfies Change}
    where n.id = any(${ids}) and n.user_id = ${user} and n.is_unread and n.changed_id < ${change}`
}

/** The last message that a rolled-up notification `n` stands for when it is read; null for other notifications. */
export function untilNow(db: Db): Fragment {
  return db`
    case when n.from_id is not null
      then greatest(n.from_id, (select a.last_id from apps a where a.id = n.app_id)) end`
}

/**
 * A condition on `n`: it is unread, and no mark makes it read; `isMarked` where there is any. `user` null: all users.
 * The ids of marks are hashed once per statement: as an array parameter, 40,000 of them were parsed again for each row.
 */
export async function toUnread(db: Db, user: number | null): Promise<{ isUnread: Fragment; isMarked: boolean }> {
  const selectOpen = () => db`
    select k.id from notification_marks k ${user === null ? db`` : db`where k.user_id = ${user}`}
    order by k.id desc limit ${openMarks}`
  const [mark] = await selectOpen()
  if (mark === undefined) return { isUnread: db`n.is_unread`, isMarked: false }
  const marked = db`select unnest(k.ids[k.done + 1:]) from notification_marks k where k.id in (${selectOpen()})`
  return { isUnread: db`(n.is_unread and n.id not in (${marked}))`, isMarked: true }
}

/** The notifications among `ids` that a mark makes read. */
export async function listMarked(db: Db, ids: number[]): Promise<Set<number>> {
  const rows = await db<{ id: number }[]>`
    select n.id from notification_marks k cross join lateral unnest(k.ids) n(id) where n.id = any(${ids}::bigint[])`
  return new Set(rows.map(({ id }) => id))
}

/** Removes a notification that is unread again from marks. */
export async function forgetMark(tx: Tx, id: number): Promise<void> {
  await tx`update notification_marks set ids = array_remove(ids, ${id}) where ${id} = any(ids)`
}

/** A condition: some mark has not been written out. */
export const isAnyMark = 'exists (select from notification_marks)'

/**
 * Writes out a portion of the marks; false where nothing is left. Any number of nodes may run it at once. After the last
 * portion of a mark it looks for what is unread: the first look that comes across the index entries of the rewritten rows
 * notes that they are dead, which takes 0.5 s for 44,000, and later ones skip them.
 */
export async function applyMark(sql: Sql): Promise<boolean> {
  const applied = await applyPortion(sql)
  if (applied?.isLast) await hasUnread(sql, applied.user)
  return applied !== null
}

function applyPortion(sql: Sql): Promise<{ user: number; isLast: boolean } | null> {
  return sql.begin(async tx => {
    const [mark] = await tx<{ id: number; user: number; change: number; left: number }[]>`
      select id, user_id as user, change_id as change, cardinality(ids) - done as left from notification_marks
      order by id limit 1 for update skip locked`
    if (mark === undefined) return null
    const { id, user, change, left } = mark
    const isLast = left <= portionSize
    await writeRead(tx, {
      user,
      change,
      ids: tx`array(select unnest(ids[done + 1:done + ${portionSize}::int]) from notification_marks where id = ${id})`,
    })
    if (isLast) await tx`delete from notification_marks where id = ${id}`
    else await tx`update notification_marks set done = done + ${portionSize} where id = ${id}`
    return { user, isLast }
  })
}
