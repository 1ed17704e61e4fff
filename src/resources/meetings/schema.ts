import { z } from 'zod'
import { invalid } from '../../lib/errors.ts'
import { Int, LineInput, Metadata, MetadataInput, Timestamp, VisibleInput } from '../../api/shape.ts'
import { inferProvider } from './provider.ts'

const isHttps = (text: string) => URL.parse(text)?.protocol === 'https:'

export const NewMeeting = z
  .object({
    provider: VisibleInput(64)
      .regex(/^\P{Cc}*$/u, 'must not contain control characters')
      .refine(name => name === name.toLowerCase(), 'must be in lower case')
      .nullish()
      .describe('zoom, microsoft, google or another name; absent, it is told from join_url'),
    provider_id: LineInput(256).nullish(),
    join_url: z.string().trim().max(2048).refine(isHttps, 'must be an absolute https URL'),
    metadata: MetadataInput.nullish(),
  })
  .transform(meeting => ({ ...meeting, provider: meeting.provider ?? inferProvider(meeting.join_url) }))
export type NewMeeting = z.output<typeof NewMeeting>

export const Meeting = z
  .object({
    id: Int,
    provider: z.string().optional(),
    provider_id: z.string().optional(),
    join_url: z.string(),
    code: z.string().optional().describe('What people type to join'),
    created_at: Timestamp,
    metadata: Metadata.optional(),
  })
  .meta({ id: 'Meeting' })

/** A row of `meetings`. */
export interface MeetingRow {
  id: number
  provider: string | null
  provider_id: string | null
  join_url: string
  code: string | null
  created_at: Date
  created_by: number
  metadata: Record<string, unknown> | null
}

export const UnknownMeeting = () => invalid({ meeting_id: ['there is no such meeting'] })
