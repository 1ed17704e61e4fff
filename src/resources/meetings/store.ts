import type { Principal } from '../../auth/principal.ts'
import type { Db, Tx } from '../../postgres/sql.ts'
import type { MeetingRow } from './schema.ts'

export async function insertMeeting(tx: Tx, row: Omit<MeetingRow, 'id'>): Promise<MeetingRow> {
  const [inserted] = await tx<MeetingRow[]>`
    insert into meetings (provider, provider_id, join_url, code, created_at, created_by, checked_at, metadata)
    values (${row.provider}, ${row.provider_id}, ${row.join_url}, ${row.code}, ${row.created_at}, ${row.created_by},
      ${row.created_at}, ${row.metadata === null ? null : JSON.stringify(row.metadata)}::text::jsonb)
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
