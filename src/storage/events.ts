import type { Db, Sql } from './sql.ts'

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

/** An app's events after `rev`, oldest first. Served by the primary key (app_id, rev, created_at). */
export function listEvents(db: Db, app: number, after: number, limit: number): Promise<EventRow[]> {
  return db<EventRow[]>`
    select * from events
    where app_id = ${app} and rev > ${after}
    order by app_id, rev
    limit ${limit}`
}

/** Makes the partitions of the log for today and the days to come, and drops those older than `keepDays`. */
export async function rotateEvents(sql: Sql, keepDays: number, now: Date): Promise<void> {
  for (let ahead = 0; ahead <= 3; ahead++) {
    const from = day(now, ahead)
    const to = day(now, ahead + 1)
    await sql.unsafe(
      `create table if not exists ${partition(from)} partition of events for values from ('${from}') to ('${to}')`,
    )
  }
  const oldest = partition(day(now, -keepDays))
  const partitions = await sql<{ name: string }[]>`
    select relid::text as name from pg_partition_tree('events') where isleaf and level = 1`
  for (const { name } of partitions) if (name < oldest) await sql.unsafe(`drop table ${name}`)
}

const day = (now: Date, offset: number) => new Date(now.getTime() + offset * 86_400_000).toISOString().slice(0, 10)
const partition = (date: string) => `events_${date.replaceAll('-', '_')}`
