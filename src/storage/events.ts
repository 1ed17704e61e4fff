import type { Db } from './sql.ts'

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

/** The app id under which the log keeps what belongs to no app. */
export const environmentId = 0

/** An app's events after `rev`, oldest first. Served by events_app. */
export function listEvents(db: Db, app: number, after: number, limit: number): Promise<EventRow[]> {
  return db<EventRow[]>`
    select * from events
    where app_id = ${app} and rev > ${after}
    order by app_id, rev
    limit ${limit}`
}

/** The events of each app after its rev, by app and oldest first, up to `limit` of each. Served by events_app. */
export function listEventsOf(
  db: Db,
  starts: readonly { app: number; rev: number }[],
  limit: number,
): Promise<EventRow[]> {
  return db<EventRow[]>`
    select e.* from unnest(${starts.map(({ app }) => app)}::bigint[], ${starts.map(({ rev }) => rev)}::bigint[])
      as start (app_id, rev)
    cross join lateral (
      select * from events
      where app_id = start.app_id and rev > start.rev
      order by app_id, rev
      limit ${limit}
    ) e
    order by e.app_id, e.rev`
}

/** How many days ahead there is room: as long may rotation fail before events can no longer be written. */
const daysAhead = 3

/**
 * Makes the partitions of the log for today and the days to come. A table is made first and then attached, because
 * making it in its place would lock out everybody who reads or writes the log.
 */
export async function addPartitions(db: Db, now: Date): Promise<void> {
  const present = new Set(await listPartitions(db))
  for (let ahead = 0; ahead <= daysAhead; ahead++) {
    const from = day(now, ahead)
    const name = partition(from)
    if (present.has(name)) continue
    const bounds = `for values from ('${from}') to ('${day(now, ahead + 1)}')`
    await db.unsafe(
      `create table ${name} (like events including all); alter table events attach partition ${name} ${bounds}`,
    )
  }
}

/** Drops the partitions of the log that hold nothing of today and the `keepDays` before. */
export async function dropPartitions(db: Db, keepDays: number, now: Date): Promise<void> {
  const oldest = partition(day(now, -keepDays))
  for (const name of await listPartitions(db)) if (name < oldest) await db.unsafe(`drop table ${name}`)
}

async function listPartitions(db: Db): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select relid::text as name from pg_partition_tree('events') where isleaf and level = 1`
  return rows.map(({ name }) => name)
}

const day = (now: Date, offset: number) => new Date(now.getTime() + offset * 86_400_000).toISOString().slice(0, 10)
const partition = (date: string) => `events_${date.replaceAll('-', '_')}`
