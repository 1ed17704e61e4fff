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
