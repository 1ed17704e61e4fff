import { batch } from '../../storage/batch.ts'
import type { EventRow } from '../../storage/events.ts'
import type { Db, Tx } from '../../storage/sql.ts'

export interface Notifiable {
  app_id: number
  rev: number
}

/** Notes that apps have events to notify of; of one flush, only the newest of each app. */
export const saveNotifiable = batch<Notifiable>({
  name: 'save_notifiable',
  columns: { app_id: 'bigint', rev: 'bigint' },
  key: row => row.app_id,
  sql: rows => `
    insert into notifiable (app_id, rev) select app_id, rev from ${rows} r
    on conflict (app_id) do update set rev = excluded.rev`,
})

export async function listNotifiable(db: Db, limit: number): Promise<number[]> {
  const rows = await db<{ app_id: number }[]>`select app_id from notifiable limit ${limit}`
  return rows.map(({ app_id }) => app_id)
}

/** Nothing is left of what was seen. An event that was committed meanwhile has moved rev, so the row stays. */
export async function removeNotifiable(db: Db, { app_id, rev }: Notifiable): Promise<void> {
  await db`delete from notifiable where app_id = ${app_id} and rev <= ${rev}`
}

/** False where there is one, or the app is gone. */
export async function addCursor(db: Db, app: number): Promise<boolean> {
  const { count } = await db`
    insert into notification_cursors (app_id, rev) select id, 0 from apps where id = ${app} and deleted_at is null
    on conflict do nothing`
  return count > 0
}

/** How far an app's events have been worked through. */
export interface Cursor {
  rev: number
  /** Of the event after `rev`, everybody up to this id was told; 0 where nobody was. */
  told_to: number
}

/** Null while another node works on the app's events, and where there is none. */
export async function lockCursor(tx: Tx, app: number): Promise<Cursor | null> {
  const [row] = await tx<Cursor[]>`
    select rev, told_to from notification_cursors where app_id = ${app} for update skip locked`
  return row ?? null
}

interface Upcoming {
  app: number
  /** Events in all, and those that may tell somebody: markers do not. */
  most: number
  mostTelling: number
}

interface UpcomingRow extends EventRow {
  /** How many of the events so far, with this one, may tell somebody. */
  telling: number
}

/** An app's events behind its cursor, oldest first; all there are where these are fewer than `mostTelling`. Served as listEvents. */
export function listUpcoming(tx: Tx, { rev }: Cursor, { app, most, mostTelling }: Upcoming): Promise<UpcomingRow[]> {
  return tx<UpcomingRow[]>`
    select * from (
      select *, count(*) filter (where type <> 'app_marked') over (order by rev) as telling
      from (select * from events where app_id = ${app} and rev > ${rev} order by app_id, rev limit ${most}) as e
    ) as counted
    where telling <= ${mostTelling} order by rev`
}

export async function moveCursor(tx: Tx, app: number, { rev, told_to }: Cursor): Promise<void> {
  await tx`update notification_cursors set rev = ${rev}, told_to = ${told_to} where app_id = ${app}`
}

/** The app is gone: nothing is to be told of it. What was told goes with its content. */
export async function forgetApp(db: Db, app: number): Promise<void> {
  await db`
    with cursor_gone as (delete from notification_cursors where app_id = ${app})
    delete from notifiable where app_id = ${app}`
}
