import type { Db, Tx } from '../../storage/sql.ts'
import type { MeetingRow } from './schema.ts'

export async function insertMeeting(tx: Tx, row: Omit<MeetingRow, 'id'>): Promise<MeetingRow> {
  const [inserted] = await tx<MeetingRow[]>`
    insert into meetings (provider, provider_id, join_url, code, created_at, created_by)
    values (${row.provider}, ${row.provider_id}, ${row.join_url}, ${row.code}, ${row.created_at}, ${row.created_by})
    returning *`
  return inserted!
}

/** Meetings by id. */
export async function listMeetings(db: Db, ids: number[]): Promise<Map<number, MeetingRow>> {
  const rows = await db<MeetingRow[]>`select * from meetings where id = any(${ids}::bigint[])`
  return new Map(rows.map(row => [row.id, row]))
}
