import { z } from 'zod'
import { Int, Metadata, Timestamp } from '../../api/shape.ts'

/** A message, post or comment as list items show it. */
export const ContentSummary = z.object({
  id: Int,
  text: z.string().optional(),
  html: z.string().optional(),
  plain: z.string().optional(),
  metadata: Metadata.optional(),
  tags: z.array(z.string()).optional(),
  is_starred: z.boolean(),
  is_subscribed: z.boolean(),
  is_trashed: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp.optional(),
})
