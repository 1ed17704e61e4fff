import { globalCommand, type GlobalWork } from '../../engine/global/command.ts'
import { codeOf } from './provider.ts'
import type { MeetingRow, NewMeeting } from './schema.ts'
import { insertMeeting } from './store.ts'

/** Keeps a meeting that was made at its provider, so that items can carry it. */
export const createMeeting = globalCommand(
  'createMeeting',
  (
    { sql, by, now }: GlobalWork,
    { provider, provider_id = null, join_url, metadata = null }: NewMeeting,
  ): Promise<MeetingRow> =>
    insertMeeting(sql, {
      provider,
      provider_id,
      join_url,
      code: codeOf(provider, provider_id, join_url),
      created_at: now,
      created_by: by.user,
      metadata,
    }),
)
