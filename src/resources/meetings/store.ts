import type { Principal } from '../../actors/principal.ts'
import type { Db, Tx } from '../../storage/sql.ts'
import type { MeetingRow } from './schema.ts'

export async function insertMeeting(tx: Tx, row: Omit<MeetingRow, 'id'>): Promise<MeetingRow> {
  const [inserted] = await tx<MeetingRow[]>`
    insert into meetings (provider, provider_id, join_url, code, created_at, created_by, checked_at)
    values (${row.provider}, ${row.provider_id}, ${row.join_url}, ${row.code}, ${row.created_at}, ${row.created_by},
      ${row.created_at})
    returning *`
  return inserted!
}

/** Meetings by id. */
export async function listMeetings(db: Db, ids: number[]): Promise<Map<number, MeetingRow>> {
  const rows = await db<MeetingRow[]>`select * from meetings where id = any(${ids}::bigint[])`
  return new Map(rows.map(row => [row.id, row]))
}

/** The meeting, where the caller may put it to use: its own, or any with an API key. It stays for some weeks more. */
export async function claimMeeting(db: Db, id: number, by: Principal, now: Date): Promise<MeetingRow | null> {
  const [row] = await db<MeetingRow[]>`
    update meetings set checked_at = ${now}
    where id = ${id} and (${by.kind === 'key'} or created_by = ${by.user})
    returning *`
  return row ?? null
}

/**
 * Of the meetings that were not looked at since `before`, deletes those that no item has, not even in the trash, and puts
 * the others off. Returns how many were looked at. Served by meetings_checked, messages_meeting and its likes.
 */
export async function removeIdleMeetings(db: Db, before: Date, now: Date, limit: number): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    with old as (
      select id from meetings where checked_at < ${before} order by checked_at limit ${limit} for update skip locked
    ), idle as (
      select id from old o
      where not exists (select from messages m where m.meeting_id = o.id)
        and not exists (select from posts p where p.meeting_id = o.id)
        and not exists (select from comments c where c.meeting_id = o.id)
    ), gone as (
      delete from meetings m using idle i where m.id = i.id
    ), kept as (
      update meetings m set checked_at = ${now} from old o where m.id = o.id and o.id not in (select id from idle)
    )
    select count(*) as count from old`
  return row!.count
}
