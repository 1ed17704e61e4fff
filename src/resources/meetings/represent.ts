import { verbatim } from '../../api/json.ts'
import type { MeetingRow } from './schema.ts'

export function showMeeting({ id, provider, provider_id, join_url, code, created_at, metadata }: MeetingRow) {
  return { id, provider, provider_id, join_url, code, created_at, metadata: verbatim(metadata) }
}
