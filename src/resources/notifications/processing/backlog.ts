import { batch } from '../../../postgres/batch.ts'
import type { EventRow } from '../../../log/events.ts'
import type { Db, Fragment, Sql, Tx } from '../../../postgres/sql.ts'
import { projectedEvents } from '../projection/notification-projection.ts'

export interface BacklogEntry {
  app_id: number
  rev: number
}

/** Records apps with events that must be processed one by one; of one flush, the newest event of each app. */
export const saveBacklog = batch<BacklogEntry>({
  name: 'save_notifiable',
  columns: { app_id: 'bigint', rev: 'bigint' },
  assigns: { rev: 'number' },
  key: row => row.app_id,
  sql: rows => `
    insert into notifiable (app_id, rev) select app_id, rev from ${rows} r
    on conflict (app_id) do update set rev = excluded.rev`,
})

/** Every event up to `rev` has been processed, in every app; no event after it is older than `at`. */
export interface Position {
  rev: number
  at: Date
}

export async function findPosition(db: Db): Promise<Position> {
  const [row] = await db<Position[]>`select rev, at from followed_position`
  return row!
}

/** Advances the position, never backwards: several nodes may do it at once. */
export async function movePosition(db: Db, { rev, at }: Position): Promise<void> {
  await db`update followed_position set rev = ${rev}, at = ${at} where rev < ${rev}`
}

/** An app with unprocessed events, and the first of them. */
export interface UnprocessedApp {
  app_id: number
  rev: number
  created_at: Date
}

/**
 * The apps with events of some types after the position that their cursors have not passed, longest waiting first.
 * Served by events_rev; the condition on time excludes the partitions of other days, and exceeds any difference between
 * clocks.
 */
export function listUnprocessed(
  db: Db,
  { rev, at }: Position,
  types: string[],
  limit: number,
): Promise<UnprocessedApp[]> {
  return db<UnprocessedApp[]>`
    select * from (
      select e.app_id, min(e.rev) as rev, min(e.created_at) as created_at
      from events e left join notification_cursors c on c.app_id = e.app_id
      where e.rev > ${rev} and e.created_at > ${at}::timestamptz - interval '5 minutes' and e.app_id > 0
        and e.type = any(${types}::text[]) and e.rev > coalesce(c.rev, 0)
      group by e.app_id
    ) u
    where exists (select from apps a where a.id = u.app_id and a.deleted_at is null)
    order by rev limit ${limit}`
}

/**
 * A condition: apps have recorded events, or messages that may have been unread for long enough, now or later. Served
 * by notification_cursors_due.
 */
export const isAnyWaiting = `exists (select from notifiable)
  or exists (select from notification_cursors where due_at is not null)`

/** Apps with recorded events, and apps with messages that may have been unread for long enough. */
export async function findWaiting(db: Db, now: Date, limit: number): Promise<{ recorded: number[]; due: number[] }> {
  const rows = await db<{ app_id: number; is_recorded: boolean }[]>`
    (select app_id, true as is_recorded from notifiable limit ${limit})
    union all
    (select app_id, false from notification_cursors where due_at <= ${now} order by due_at limit ${limit})`
  const [recorded, due] = [true, false].map(isRecorded =>
    rows.filter(({ is_recorded }) => is_recorded === isRecorded).map(({ app_id }) => app_id),
  )
  return { recorded: recorded!, due: due! }
}

/** How far an app's events have been processed. */
export interface Cursor {
  app_id: number
  rev: number
  /** Of the event after `rev`, all recipients up to this id have been notified; 0 for none. */
  told_to: number
  /** When to check for users with unread messages; null while there are no new messages. */
  due_at: Date | null
  /** Unread messages were processed up to this one, and for later ones, of a large app, up to this user. */
  rolled_id: number
  rolled_to: number
}

/** Locks the cursors of existing apps that no other node works on; creates missing ones. */
export function lockCursors(tx: Tx, apps: number[]): Promise<Cursor[]> {
  return tx<Cursor[]>`
    with added as (
      insert into notification_cursors (app_id, rev)
      select id, 0 from apps a
      where id = any(${apps}::bigint[]) and deleted_at is null
        and not exists (select from notification_cursors c where c.app_id = a.id)
      on conflict do nothing
      returning app_id, rev, told_to, due_at, rolled_id, rolled_to
    )
    select * from added
    union all
    select * from (
      select app_id, rev, told_to, due_at, rolled_id, rolled_to from notification_cursors c
      where app_id = any(${apps}::bigint[])
        and exists (select from apps a where a.id = c.app_id and a.deleted_at is null)
      order by app_id for update skip locked) known`
}

/** A summary of an app's oldest events after the cursor. */
export interface Upcoming {
  app_id: number
  /** The rev of the last of these events; the cursor's where there are none. */
  rev: number
  events: number
  /** The number of events that must be processed one by one. */
  projected: number
  first_at: Date | null
  /** When the first of the new messages was created, and the ids of all. */
  message_at: Date | null
  messages: number[]
  /** Users with their read position, and the rev at which they reached it. */
  readers: number[]
  reached: number[]
  reached_revs: number[]
}

/**
 * The message up to which the actor of an event has read: by a marker, by writing, or by removing all messages. 0 where
 * the event says nothing about it; null where the event must be processed by itself, because it may notify users or
 * undo that.
 */
function toReached(db: Db): Fragment {
  return db`case
    when type = 'app_marked' then coalesce((facts ->> 'marked_id')::bigint, 0)
    when type = 'message_created' and not coalesce(facts ? 'mentioned', false) then entity_id
    when type = 'settings_changed' and facts ->> 'was_hidden' = 'false' then rev
    when type = any(${projectedEvents}::text[]) then null
    else 0 end`
}

/** The next events of each app, at most `most` each. Served as listEvents. */
export function listUpcoming(tx: Tx, cursors: Cursor[], most: number): Promise<Upcoming[]> {
  const apps = cursors.map(({ app_id }) => app_id)
  const revs = cursors.map(({ rev }) => rev)
  return tx<Upcoming[]>`
    select c.app_id, coalesce(max(e.rev), c.rev) as rev, count(e.rev) as events,
      count(*) filter (where e.rev is not null and e.reached is null) as projected,
      min(e.created_at) as first_at,
      min(e.created_at) filter (where e.type = 'message_created') as message_at,
      coalesce(array_agg(e.entity_id order by e.rev) filter (where e.type = 'message_created'), '{}') as messages,
      coalesce(array_agg(e.actor_id order by e.rev) filter (where e.reached > 0), '{}') as readers,
      coalesce(array_agg(e.reached order by e.rev) filter (where e.reached > 0), '{}') as reached,
      coalesce(array_agg(e.rev order by e.rev) filter (where e.reached > 0), '{}') as reached_revs
    from unnest(${apps}::bigint[], ${revs}::bigint[]) c(app_id, rev)
    left join lateral (
      select rev, type, entity_id, actor_id, created_at, ${toReached(tx)} as reached
      from events where app_id = c.app_id and rev > c.rev order by app_id, rev limit ${most}
    ) e on true
    group by c.app_id, c.rev`
}

/** The events among these that must be processed one by one, oldest first. */
export function listProjected(tx: Tx, parts: { cursor: Cursor; upcoming: Upcoming }[]): Promise<EventRow[]> {
  return tx<EventRow[]>`
    select e.* from unnest(
      ${parts.map(({ cursor }) => cursor.app_id)}::bigint[], ${parts.map(({ cursor }) => cursor.rev)}::bigint[],
      ${parts.map(({ upcoming }) => upcoming.rev)}::bigint[]
    ) c(app_id, after_rev, up_to_rev)
    cross join lateral (
      select * from events
      where app_id = c.app_id and rev > c.after_rev and rev <= c.up_to_rev
        and ${toReached(tx)} is null
      offset 0
    ) e
    order by e.app_id, e.rev`
}

export async function moveCursors(tx: Tx, cursors: Cursor[]): Promise<void> {
  const column = (key: Exclude<keyof Cursor, 'due_at'>) => cursors.map(cursor => cursor[key])
  await tx`
    update notification_cursors c
    set rev = r.rev, told_to = r.told_to, due_at = r.due_at, rolled_id = r.rolled_id, rolled_to = r.rolled_to
    from unnest(
      ${column('app_id')}::bigint[], ${column('rev')}::bigint[], ${column('told_to')}::bigint[],
      ${cursors.map(({ due_at }) => due_at?.toISOString() ?? null)}::text[]::timestamptz[], ${column('rolled_id')}::bigint[], ${column('rolled_to')}::bigint[]
    ) r(app_id, rev, told_to, due_at, rolled_id, rolled_to)
    where c.app_id = r.app_id`
}

/**
 * Removes records of processed events. An event that was committed meanwhile has moved rev, so its app's row stays; so
 * does a locked one, because waiting for it while holding other rows would be a deadlock. Does not wait for the disk:
 * after a crash, restored records are found to be processed.
 */
export async function removeFromBacklog(sql: Sql, seen: BacklogEntry[]): Promise<void> {
  const apps = seen.map(({ app_id }) => app_id)
  const revs = seen.map(({ rev }) => rev)
  await sql.begin(tx =>
    Promise.all([
      tx`set local synchronous_commit = off`,
      tx`
        delete from notifiable where app_id in (
          select n.app_id from notifiable n
          join unnest(${apps}::bigint[], ${revs}::bigint[]) s(app_id, rev) on s.app_id = n.app_id and n.rev <= s.rev
          for update of n skip locked)`,
    ]),
  )
}

/** Deletes the cursors of deleted apps; returns their ids. Notifications are removed with their content. */
export async function forgetGone(db: Db, apps: number[]): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    with gone as materialized (
      select t.id from unnest(${apps}::bigint[]) t(id)
      where not exists (select from apps a where a.id = t.id and a.deleted_at is null)
    ), cursors_gone as (
      delete from notification_cursors c using gone g where c.app_id = g.id
    ), notes_gone as (
      delete from notifiable n using gone g where n.app_id = g.id
    )
    select id from gone`
  return rows.map(({ id }) => id)
}
