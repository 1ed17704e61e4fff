import { part } from '../content/parts/part.ts'
import { referenceBy } from '../content/parts/reference.ts'
import { showMeeting } from './represent.ts'
import { Meeting, UnknownMeeting, type MeetingRow } from './schema.ts'
import { claimMeeting, listMeetings } from './store.ts'

/** The meeting of an item. It stays where the item goes: others may have it. */
export const meetingPart = part<MeetingRow | null, undefined, { id: number; row: MeetingRow | null } | null>()({
  ...referenceBy('meeting_id', {
    description: 'A meeting that the caller added',
    list: listMeetings,
    claim: (id, { sql, by, now }) => claimMeeting(sql, id, by, now()),
    Unknown: UnknownMeeting,
  }),
  shown: Meeting.optional(),
  told: Meeting.optional(),
  present: meeting => showMeeting(meeting!),
})
