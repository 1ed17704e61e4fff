import { dropOldPartitions, makePartitions } from './partitions.ts'
import type { Db } from '../postgres/sql.ts'

/** A row of the event log. */
export interface EventRow {
  app_id: number
  rev: number
  prev: number
  type: string
  actor_id: number
  entity_type: string
  entity_id: number
  facts: Record<string, unknown> | null
  created_at: Date
  /**
   * The Idempotency-Key of the request that made it, as it was sent: with it, clients of the actor recognise their own
   * write.
   */
  key?: string | null
}

/** The app id of events that belong to no app. */
export const sharedLogId = 0

/** An app's events after `rev`, oldest first. Served by events_app. */
export function listEvents(db: Db, app: number, after: number, limit: number): Promise<EventRow[]> {
  return db<EventRow[]>`
    select * from events
    where app_id = ${app} and rev > ${after}
    order by app_id, rev
    limit ${limit}`
}

/** How many events an app has after a rev, up to a limit, and what was before the first of them. Served by events_app. */
export async function countEvents(db: Db, app: number, after: number, limit: number) {
  const [row] = await db<{ count: number; prev: number | null }[]>`
    select count(*) as count, min(prev) as prev from (
      select prev from events where app_id = ${app} and rev > ${after} order by app_id, rev limit ${limit}
    ) e`
  return row!
}

/** The app's newest event of some types up to `rev`; null where the log has none. Served by events_app. */
export async function findNewestRev(
  db: Db,
  app: number,
  { rev, types }: { rev: number; types: string[] },
): Promise<number | null> {
  const [row] = await db<{ rev: number }[]>`
    select rev from events
    where app_id = ${app} and rev <= ${rev} and type = any(${types})
    order by app_id desc, rev desc
    limit 1`
  return row?.rev ?? null
}

/** Where to read the events of an app: after a rev, the first ones up to a number. */
export interface EventsStart {
  app: number
  rev: number
  limit: number
}

/**
 * The events of each app after its start, by app and oldest first. Served by events_app. `isRecent` selects those of the
 * last minutes: the condition on time excludes the partitions of other days, and exceeds any difference between clocks.
 */
export function listEventsOf(db: Db, starts: readonly EventsStart[], { isRecent = false } = {}): Promise<EventRow[]> {
  const condition = isRecent ? db`and created_at > now() - interval '5 minutes'` : db``
  const column = (key: keyof EventsStart) => starts.map(start => start[key])
  return db<EventRow[]>`
    select e.* from unnest(${column('app')}::bigint[], ${column('rev')}::bigint[], ${column('limit')}::bigint[])
      as start (app_id, rev, most)
    cross join lateral (
      select * from events
      where app_id = start.app_id and rev > start.rev ${condition}
      order by app_id, rev
      limit start.most
    ) e
    order by e.app_id, e.rev`
}

/** The event log, partitioned by day, and the audit log, by month. */
const logs = [
  { table: 'events', unit: 'day', ahead: 3 },
  { table: 'audit', unit: 'month', ahead: 1 },
] as const

/** Creates the partitions of the logs for today and the days to come. */
export async function addPartitions(db: Db, now: Date): Promise<void> {
  for (const log of logs) await makePartitions(db, log, now)
}

/** Drops old partitions of the event log and of the audit log. */
export async function dropPartitions(
  db: Db,
  { eventDays, auditDays }: { eventDays: number; auditDays: number },
  now: Date,
): Promise<void> {
  await dropOldPartitions(db, logs[0], eventDays, now)
  await dropOldPartitions(db, logs[1], auditDays, now)
}
