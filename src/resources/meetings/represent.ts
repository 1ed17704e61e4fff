import type { MeetingRow } from './schema.ts'

export function showMeeting({ created_by: _, ...meeting }: MeetingRow) {
  return meeting
}
